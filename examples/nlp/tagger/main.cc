// Trains, scores and runs a BiLSTM tagger. `tagger --help` and `tagger train --help` say how.

#include "commands.h"
#include "train.h"

int main(int argc, char** argv) {
  nlp::CommandLine line(
      "tagger",
      "Tags words with a BiLSTM: parts of speech, names, or the case and punctuation that a text "
      "has lost.");
  line.add("train", "Train a tagger", std::make_unique<tagger::TrainCommand>());
  line.add("eval", "Score a saved tagger", tagger::eval_command());
  line.add("tag", "Tag new sentences", tagger::tag_command());
  return line.run(argc, argv);
}
