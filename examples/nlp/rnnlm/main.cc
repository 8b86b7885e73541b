// Trains, evaluates and uses a language model. See `rnnlm --help` and
// `rnnlm train --help`.

#include "commands.h"
#include "train.h"

int main(int argc, char** argv) {
  nlp::CommandLine line("rnnlm",
                        "A language model of words or characters with an LSTM or a transformer.");
  line.add("train", "Train a model", std::make_unique<rnnlm::TrainCommand>(),
           {"rnnlm train --train train.txt --dev dev.txt --model text.model",
            "rnnlm train --train all.txt --split 90/5/5 --level char --model chars.model"});
  line.add("eval", "Perplexity of a text", rnnlm::eval_command(),
           {"rnnlm eval --model text.model --data test.txt",
            "rnnlm eval --model chars.model --data all.txt --part test"});
  line.add("score", "Log-probability of each line", rnnlm::score_command(),
           {"echo 'the cat sleeps' | rnnlm score --model text.model",
            "rnnlm score --model text.model --input lines.txt --output scores.tsv"});
  line.add("sample", "Draw sentences", rnnlm::sample_command(),
           {"rnnlm sample --model text.model --count 5",
            "rnnlm sample --model text.model --prefix 'the cat' --temperature 0.7"});
  return line.run(argc, argv);
}
