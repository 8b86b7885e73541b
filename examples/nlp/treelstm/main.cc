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
  nlp::add_run(app, command, "Trees to learn from, as SST writes them", "Trees");

  treelstm::ModelSettings& model = command.model_settings;
  app.add_option("--word", model.word, "Size of the words' vectors")->check(Between(1, 4096));
  app.add_option("--hidden", model.hidden, "Size of the tree-LSTM")->check(Between(1, 4096));
  app.add_option("--dropout", model.dropout, "Dropout of words, and before the labels")
      ->check(Between(0.0, 0.95));
  app.add_flag("--keep-case", model.keep_case, "Tell The from the");

  treelstm::TrainSettings& settings = command.settings;
  nlp::add_unknown(app, settings.unknown);
  app.add_option("--weight-decay", settings.weight_decay,
                 "Every update multiplies the weights of the network, but not of the words, by "
                 "one minus this")
      ->check(Between(0.0, 0.5));
  nlp::add_updates(app, settings, command, "Trees");
}

void add_eval(CLI::App& app, EvalCommand& command) {
  nlp::add_model(app, command);
  app.add_option("--data,-d", command.data, "Labelled trees")->required();
  app.add_flag("--confusion", command.confusion, "Show which labels it takes for which");
  app.add_option("--show", command.show, "Show so many sentences and their labels")
      ->check(Between(0, 1000000));
}

void add_classify(CLI::App& app, ClassifyCommand& command) {
  nlp::add_model(app, command);
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
  add_train(line.command("train", "Train a model", [&] { treelstm::run_train(train); }), train);
  add_eval(line.command("eval", "Score a saved model", [&] { treelstm::run_eval(eval); }), eval);
  add_classify(line.command("classify", "Label trees or sentences",
                            [&] { treelstm::run_classify(classify); }),
               classify);
  return line.run(argc, argv);
}
