// Trains, scores and runs a BiLSTM tagger. See `tagger --help` and
// `tagger train --help`.

#include "commands.h"
#include "train.h"

int main(int argc, char** argv) {
  nlp::CommandLine line(
      "tagger",
      "Tags words with a BiLSTM: parts of speech, names, or the case and punctuation that a text "
      "has lost.");
  line.add("train", "Train a tagger", std::make_unique<tagger::TrainCommand>(),
           {"tagger train --train train.conllu --dev dev.conllu --model pos.model",
            "tagger train --train all.txt --format pipe --split 90/5/5 --model names.model"});
  line.add("eval", "Score a saved tagger", tagger::eval_command(),
           {"tagger eval --model pos.model --data test.conllu",
            "tagger eval --model names.model --data all.txt --part test --show 5"});
  line.add("tag", "Tag new sentences", tagger::tag_command(),
           {"echo 'The cat sat on the mat .' | tagger tag --model pos.model",
            "tagger tag --model pos.model --input words.txt --output tagged.txt"});
  line.add("serve", "Tag sentences over HTTP", tagger::serve_command(),
           {"tagger serve --model pos.model --port 8002",
            "curl --data-binary @words.txt 'localhost:8002/tag?format=json'"});
  return line.run(argc, argv);
}
