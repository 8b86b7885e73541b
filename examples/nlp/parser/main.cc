// Trains, scores and runs a dependency parser. `parser --help` and `parser train --help` say how.

#include "examples/nlp/common/command_line.h"
#include "examples/nlp/parser/commands.h"

namespace {

using nlp::Between;
using parser::EvalCommand;
using parser::ParseCommand;
using parser::TrainCommand;

void add_train(CLI::App& app, TrainCommand& command) {
  app.add_option("--train", command.train, "CoNLL-U sentences to learn from")->required();
  app.add_option("--dev", command.dev,
                 "Sentences that decide which epoch is best and when to stop");
  app.add_option("--test", command.test, "Sentences to score the best model on in the end");
  app.add_option("--model,-m", command.model,
                 "File for the best model; MODEL.checkpoint holds what --resume needs")
      ->required();
  app.add_flag("--resume", command.resume, "Go on with the run that MODEL.checkpoint holds");

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
  app.add_option("--unknown", settings.unknown,
                 "A word seen n times is hidden in training with probability U / (U + n)")
      ->check(Between(0.0, 1000.0));
  app.add_option("--batch", settings.batch, "Sentences per update")->check(Between(1, 100000));
  app.add_option("--learning-rate", settings.learning_rate, "Of Adam, at the start")
      ->check(Between(1e-9, 10.0));
  app.add_option("--decay", settings.decay, "What an epoch multiplies the learning rate by")
      ->check(Between(1e-3, 1.0));
  app.add_option("--clip", settings.clip, "Largest gradient norm, 0 for any")
      ->check(Between(0.0, 1e9));
  app.add_option("--seed", settings.seed, "Of everything random")->check(Between(0, 1e19));
  nlp::add_limits(app, command.limits);
}

void add_together(CLI::App& app, std::size_t& together) {
  app.add_option("--together", together, "Sentences that are parsed in step, in one graph")
      ->check(Between(1, 100000));
}

void add_eval(CLI::App& app, EvalCommand& command) {
  app.add_option("--model,-m", command.model, "A model file")->required();
  app.add_option("--data,-d", command.data, "CoNLL-U sentences with their trees")->required();
  add_together(app, command.together);
  app.add_flag("--compare", command.compare,
               "Parse once more, one sentence at a time, and compare");
  app.add_option("--show", command.show, "Show so many sentences and their arcs")
      ->check(Between(0, 1000000));
}

void add_parse(CLI::App& app, ParseCommand& command) {
  app.add_option("--model,-m", command.model, "A model file")->required();
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
  CLI::App* train_app = nullptr;
  train_app = &line.command("train", "Train a parser", [&] {
    train.given = nlp::given_options(*train_app);
    parser::run_train(train);
  });
  add_train(*train_app, train);
  add_eval(line.command("eval", "Score a saved parser", [&] { parser::run_eval(eval); }), eval);
  add_parse(line.command("parse", "Parse tagged sentences", [&] { parser::run_parse(parse); }),
            parse);
  return line.run(argc, argv);
}
