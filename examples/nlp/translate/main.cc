// Trains, scores and runs a translator. See `translate --help` and
// `translate train --help`.

#include "examples/nlp/translate/commands.h"
#include "examples/nlp/translate/train.h"

int main(int argc, char** argv) {
  nlp::CommandLine line("translate",
                        "Writes for a text another one, as it has learned from pairs: what it "
                        "means in another language, how it is spoken, what to do.");
  line.add("train", "Train a translator", std::make_unique<translate::TrainCommand>(),
           {"translate train --train train.tsv --dev dev.tsv --model ja-en.model",
            "translate train --train ja,en --format parallel --network transformer -m m"});
  line.add("eval", "Score a saved translator", translate::eval_command(),
           {"translate eval --model ja-en.model --data test.tsv",
            "translate eval --model ja-en.model --data test.tsv --beam 1 --show 5"});
  line.add("translate", "Translate texts", translate::translate_command(),
           {"translate translate --model ja-en.model --input ja.txt --output en.txt",
            "echo schoen | translate translate --model g2p.model --nbest 3"});
  return line.run(argc, argv);
}
