// Trains, evaluates and uses a language model. `rnnlm --help` and `rnnlm train --help` say how.

#include "commands.h"
#include "train.h"

int main(int argc, char** argv) {
  nlp::CommandLine line("rnnlm", "A language model of words or characters with an LSTM.");
  line.add("train", "Train a model", std::make_unique<rnnlm::TrainCommand>());
  line.add("eval", "Perplexity of a text", rnnlm::eval_command());
  line.add("score", "Log-probability of each line", rnnlm::score_command());
  line.add("sample", "Draw sentences", rnnlm::sample_command());
  return line.run(argc, argv);
}
