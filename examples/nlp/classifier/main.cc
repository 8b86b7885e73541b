// Trains, scores and runs a classifier of texts. See `classifier --help` and
// `classifier train --help`.

#include "examples/nlp/classifier/commands.h"
#include "examples/nlp/classifier/train.h"

int main(int argc, char** argv) {
  nlp::CommandLine line("classifier",
                        "Gives a text one of the labels that it has learned: a topic, an intent, a "
                        "sentiment.");
  line.add("train", "Train a classifier", std::make_unique<classifier::TrainCommand>(),
           {"classifier train --train train.tsv --dev dev.tsv --model topic.model",
            "classifier train --train all.tsv --split 90/5/5 --model topic.model"});
  line.add("eval", "Score a saved classifier", classifier::eval_command(),
           {"classifier eval --model topic.model --data test.tsv",
            "classifier eval --model topic.model --data all.tsv --part test --show 5"});
  line.add("classify", "Label new texts", classifier::classify_command(),
           {"echo 'what a day' | classifier classify --model topic.model",
            "classifier classify --model topic.model --input texts.txt --output labels.tsv"});
  return line.run(argc, argv);
}
