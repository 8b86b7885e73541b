// Trains, scores and runs a dependency parser. `parser --help` and `parser train --help` say how.

#include "examples/nlp/parser/commands.h"
#include "examples/nlp/parser/train.h"

int main(int argc, char** argv) {
  nlp::CommandLine line("parser",
                        "Finds the dependency tree of a sentence: for every word its head and its "
                        "part in it.");
  line.add("train", "Train a parser", std::make_unique<parser::TrainCommand>());
  line.add("eval", "Score a saved parser", parser::eval_command());
  line.add("parse", "Parse sentences", parser::parse_command());
  line.add("score", "Score a parsed file by the rules of CoNLL 2018", parser::score_command());
  return line.run(argc, argv);
}
