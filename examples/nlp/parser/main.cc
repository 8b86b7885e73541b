// Trains, scores and runs a dependency parser. See `parser --help` and
// `parser train --help`.

#include "examples/nlp/parser/commands.h"
#include "examples/nlp/parser/train.h"

int main(int argc, char** argv) {
  nlp::CommandLine line("parser",
                        "Finds the dependency tree of a sentence: for every word its head and its "
                        "part in it.");
  line.add("train", "Train a parser", std::make_unique<parser::TrainCommand>(),
           {"parser train --train train.conllu --dev dev.conllu --model en.model",
            "parser train --train train.conllu --dev dev.conllu --model en.model --resume"});
  line.add("eval", "Score a saved parser", parser::eval_command(),
           {"parser eval --model en.model --data test.conllu",
            "parser eval --model en.model --data test.conllu --show 3"});
  line.add("parse", "Parse sentences", parser::parse_command(),
           {"parser parse --model en.model --tagger pos.model --input-format text < text",
            "parser parse --model en.model --input tagged.conllu --output parsed.conllu"});
  line.add("serve", "Parse sentences over HTTP", parser::serve_command(),
           {"parser serve --model en.model --port 8003",
            "curl --data-binary @tagged.conllu 'localhost:8003/parse?format=json'"});
  line.add("score", "Score a parsed file by the rules of CoNLL 2018", parser::score_command(),
           {"parser score --gold test.conllu --system parsed.conllu"});
  return line.run(argc, argv);
}
