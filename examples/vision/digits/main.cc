// Trains, scores and runs a classifier of small pictures. See `digits --help` and
// `digits train --help`.

#include "examples/vision/digits/commands.h"
#include "examples/vision/digits/train.h"

int main(int argc, char** argv) {
  nlp::CommandLine line("digits",
                        "Gives a small grey picture one of the labels that it has learned: a "
                        "digit, a letter, a piece of clothing.");
  line.add("train", "Train a classifier", std::make_unique<digits::TrainCommand>(),
           {"digits train --train images.gz:labels.gz --split 95/5/0 --model clothes.model",
            "digits train --train semeion.data --folds 10 --model semeion.model"});
  line.add("eval", "Score a saved classifier", digits::eval_command(),
           {"digits eval --model clothes.model --data images.gz:labels.gz --confusion",
            "digits eval --model clothes.model --data folder --pictures clothes.svg"});
  line.add("classify", "Label new pictures", digits::classify_command(),
           {"digits classify --model clothes.model *.png",
            "digits classify --model semeion.model --invert scan.pgm"});
  return line.run(argc, argv);
}
