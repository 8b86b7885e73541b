// Trains, scores and runs a tree-LSTM for sentiment. `treelstm --help` and `treelstm train --help`
// say how.

#include "examples/nlp/treelstm/commands.h"
#include "examples/nlp/treelstm/train.h"

int main(int argc, char** argv) {
  nlp::CommandLine line("treelstm",
                        "Tells how positive a sentence and each of its phrases is, with a "
                        "tree-LSTM over its parse.");
  line.add("train", "Train a model", std::make_unique<treelstm::TrainCommand>());
  line.add("eval", "Score a saved model", treelstm::eval_command());
  line.add("classify", "Label trees or sentences", treelstm::classify_command());
  return line.run(argc, argv);
}
