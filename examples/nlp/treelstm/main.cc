// Trains, scores and runs a tree-LSTM for sentiment. See `treelstm --help` and
// `treelstm train --help`.

#include "examples/nlp/treelstm/commands.h"
#include "examples/nlp/treelstm/train.h"

int main(int argc, char** argv) {
  nlp::CommandLine line("treelstm",
                        "Tells how positive a sentence and each of its phrases is, with a "
                        "tree-LSTM over its parse.");
  line.add("train", "Train a model", std::make_unique<treelstm::TrainCommand>(),
           {"treelstm train --train train.txt --dev dev.txt --model trees.model",
            "treelstm train --train train.txt --dev dev.txt --model trees.model --resume"});
  line.add("eval", "Score a saved model", treelstm::eval_command(),
           {"treelstm eval --model trees.model --data test.txt",
            "treelstm eval --model trees.model --data test.txt --confusion --show 5"});
  line.add("classify", "Label trees or sentences", treelstm::classify_command(),
           {"echo 'not a good film' | treelstm classify --model trees.model",
            "treelstm classify --model trees.model --input trees.txt --trees"});
  return line.run(argc, argv);
}
