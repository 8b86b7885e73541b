// Trains, scores and runs a tree-LSTM for sentiment. `treelstm --help` and `treelstm train --help`
// say how.

#include "examples/nlp/common/command_line.h"
#include "examples/nlp/treelstm/commands.h"

namespace {

using nlp::Between;
using treelstm::ClassifyCommand;
using treelstm::EvalCommand;
using treelstm::TrainCommand;

void add_train(CLI::App& app, TrainCommand& command) {
  app.add_option("--train", command.train, "Trees to learn from, as SST writes them")->required();
  app.add_option("--dev", command.dev, "Trees that decide which epoch is best and when to stop");
  app.add_option("--test", command.test, "Trees to score the best model on in the end");
  app.add_option("--model,-m", command.model,
                 "File for the best model; MODEL.checkpoint holds what --resume needs")
      ->required();
  app.add_flag("--resume", command.resume, "Go on with the run that MODEL.checkpoint holds");

  treelstm::ModelSettings& model = command.model_settings;
  app.add_option("--word", model.word, "Size of the words' vectors")->check(Between(1, 4096));
  app.add_option("--hidden", model.hidden, "Size of the tree-LSTM")->check(Between(1, 4096));
  app.add_option("--dropout", model.dropout, "Dropout of words, and before the labels")
      ->check(Between(0.0, 0.95));
  app.add_flag("--keep-case", model.keep_case, "Tell The from the");

  treelstm::TrainSettings& settings = command.settings;
  app.add_option("--unknown", settings.unknown,
                 "A word seen n times is hidden in training with probability U / (U + n)")
      ->check(Between(0.0, 1000.0));
  app.add_option("--batch", settings.batch, "Trees per update")->check(Between(1, 100000));
  app.add_option("--learning-rate", settings.learning_rate, "Of Adam, at the start")
      ->check(Between(1e-9, 10.0));
  app.add_option("--decay", settings.decay, "What an epoch multiplies the learning rate by")
      ->check(Between(1e-3, 1.0));
  app.add_option("--clip", settings.clip, "Largest gradient norm, 0 for any")
      ->check(Between(0.0, 1e9));
  app.add_option("--weight-decay", settings.weight_decay,
                 "Every update multiplies the weights of the network, but not of the words, by "
                 "one minus this")
      ->check(Between(0.0, 0.5));
  app.add_option("--seed", settings.seed, "Of everything random")->check(Between(0, 1e19));
  nlp::add_limits(app, command.limits);
}

void add_eval(CLI::App& app, EvalCommand& command) {
  app.add_option("--model,-m", command.model, "A model file")->required();
  app.add_option("--data,-d", command.data, "Labelled trees")->required();
  app.add_flag("--confusion", command.confusion, "Show which labels it takes for which");
  app.add_option("--show", command.show, "Show so many sentences and their labels")
      ->check(Between(0, 1000000));
}

void add_classify(CLI::App& app, ClassifyCommand& command) {
  app.add_option("--model,-m", command.model, "A model file")->required();
  app.add_option("--input,-i", command.input,
                 "One tree or sentence a line; labels of trees are read and ignored");
  app.add_option("--output,-o", command.output, "Where label, name, probabilities and words go");
  app.add_option("--format", command.format,
                 "trees, text, or auto: a line that begins like '(3' is a tree");
  app.add_option("--shape", command.shape,
                 "balanced, right or left: the tree that a plain sentence is given");
  app.add_flag("--trees", command.trees, "Print the tree with its labels instead of the words");
}

}  // namespace

int main(int argc, char** argv) {
  TrainCommand train;
  EvalCommand eval;
  ClassifyCommand classify;
  nlp::CommandLine line("treelstm",
                        "Tells how positive a sentence and each of its phrases is, with a "
                        "tree-LSTM over its parse.");
  CLI::App* train_app = nullptr;
  train_app = &line.command("train", "Train a model", [&] {
    train.given = nlp::given_options(*train_app);
    treelstm::run_train(train);
  });
  add_train(*train_app, train);
  add_eval(line.command("eval", "Score a saved model", [&] { treelstm::run_eval(eval); }), eval);
  add_classify(line.command("classify", "Label trees or sentences",
                            [&] { treelstm::run_classify(classify); }),
               classify);
  return line.run(argc, argv);
}
