// Trains, scores and runs a dependency parser. `parser --help` and `parser train --help` say how.

#include "examples/nlp/common/command_line.h"
#include "examples/nlp/parser/commands.h"

namespace {

using nlp::Between;
using parser::EvalCommand;
using parser::ParseCommand;
using parser::TrainCommand;

void add_train(CLI::App& app, TrainCommand& command) {
  nlp::add_run(app, command, "CoNLL-U sentences to learn from", "Sentences");

  parser::ModelSettings& model = command.model_settings;
  app.add_option("--word", model.word, "Size of the words' vectors")->check(Between(1, 4096));
  app.add_option("--tag", model.tag, "Size of the tags' vectors")->check(Between(1, 4096));
  app.add_option("--hidden", model.hidden, "LSTM size in each direction")->check(Between(1, 4096));
  app.add_option("--layers", model.layers, "LSTM layers")->check(Between(1, 16));
  app.add_option("--mlp", model.mlp, "Size of the tanh layer before the moves")
      ->check(Between(1, 4096));
  app.add_option("--dropout", model.dropout, "Dropout of what goes into each layer and comes out")
      ->check(Between(0.0, 0.95));

  parser::TrainSettings& settings = command.settings;
  nlp::add_unknown(app, settings.unknown);
  nlp::add_updates(app, settings, command, "Sentences");
}

void add_together(CLI::App& app, std::size_t& together) {
  app.add_option("--together", together, "Sentences that are parsed in step, in one graph")
      ->check(Between(1, 100000));
}

void add_eval(CLI::App& app, EvalCommand& command) {
  nlp::add_model(app, command);
  app.add_option("--data,-d", command.data, "CoNLL-U sentences with their trees")->required();
  add_together(app, command.together);
  app.add_flag("--compare", command.compare,
               "Parse once more, one sentence at a time, and compare");
  app.add_option("--show", command.show, "Show so many sentences and their arcs")
      ->check(Between(0, 1000000));
}

void add_parse(CLI::App& app, ParseCommand& command) {
  nlp::add_model(app, command);
  app.add_option("--input,-i", command.input,
                 "CoNLL-U sentences with tags; their trees are ignored");
  app.add_option("--output,-o", command.output, "Where the sentences with new trees go");
  add_together(app, command.together);
}

}  // namespace

int main(int argc, char** argv) {
  TrainCommand train;
  EvalCommand eval;
  ParseCommand parse;
  nlp::CommandLine line("parser",
                        "Finds the dependency tree of a sentence: for every word its head and its "
                        "part in it.");
  add_train(line.command("train", "Train a parser", [&] { parser::run_train(train); }), train);
  add_eval(line.command("eval", "Score a saved parser", [&] { parser::run_eval(eval); }), eval);
  add_parse(line.command("parse", "Parse tagged sentences", [&] { parser::run_parse(parse); }),
            parse);
  return line.run(argc, argv);
}
