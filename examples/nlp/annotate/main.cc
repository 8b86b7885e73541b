// Learns to annotate text from a treebank, and annotates text: sentences, words, tags, lemmas and
// trees. See `annotate --help` and `annotate train --help`.

#include "examples/nlp/annotate/commands.h"
#include "examples/nlp/annotate/train.h"

int main(int argc, char** argv) {
  nlp::CommandLine line("annotate",
                        "Annotates text: finds its sentences and words, their parts of speech, "
                        "features and lemmas, and the tree of each sentence.");
  line.add("train", "Learn from a treebank", std::make_unique<annotate::TrainCommand>(),
           {"annotate train --train train.conllu --dev dev.conllu --model en.model",
            "annotate train --train train.conllu --dev dev.conllu --model en.model --resume"});
  line.add("eval", "Score a saved model from the raw text of a treebank", annotate::eval_command(),
           {"annotate eval --model en.model --data test.conllu",
            "annotate eval --model en.model --data test.conllu --threads 2"});
  line.add("run", "Annotate text", annotate::run_command(),
           {"annotate run --model en.model < text.txt > annotated.conllu",
            "annotate run --model en.model --ranges --input text.txt --output annotated.conllu"});
  line.add("serve", "Annotate text over HTTP, as UDPipe's servers do", annotate::serve_command(),
           {"annotate serve --model en.model --port 8001",
            "curl -F data=@text.txt -F tokenizer= -F tagger= -F parser= localhost:8001/process"});
  return line.run(argc, argv);
}
