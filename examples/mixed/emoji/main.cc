// Gathers emoji, and trains, scores and runs a model that predicts their groups. See `emoji --help`
// and `emoji train --help`.

#include "examples/mixed/emoji/commands.h"
#include "examples/mixed/emoji/gather.h"
#include "examples/mixed/emoji/train.h"

int main(int argc, char** argv) {
  nlp::CommandLine line("emoji",
                        "Says to which group an emoji belongs, by its picture, its words and its "
                        "properties, or by what there is of them.");
  line.add("gather", "Collect the data from Debian's packages", emoji::gather_command(),
           {"emoji gather --out emoji.jsonl", "emoji gather --language de --out german.jsonl"});
  line.add("train", "Train a model", std::make_unique<emoji::TrainCommand>(),
           {"emoji train --train emoji.jsonl --model emoji.model",
            "emoji train --train emoji.jsonl --inputs image --model image.model"});
  line.add("eval", "Score a saved model", emoji::eval_command(),
           {"emoji eval --model emoji.model --data emoji.jsonl --part test",
            "emoji eval --model emoji.model --data emoji.jsonl --part test --inputs image,text"});
  line.add("predict", "Say what emoji are", emoji::predict_command(),
           {"emoji predict --model emoji.model --input emoji.jsonl --part test --sheet test.svg",
            "echo '{\"words\": [\"cat\", \"pet\"]}' | emoji predict --model emoji.model"});
  return line.run(argc, argv);
}
