#include <filesystem>

#include "examples/nlp/annotate/commands.h"
#include "examples/nlp/annotate/document.h"
#include "examples/nlp/annotate/lexicon.h"
#include "examples/nlp/annotate/pipeline.h"
#include "examples/nlp/common/model_command.h"
#include "examples/nlp/common/options.h"

namespace annotate {

using namespace nlp;

namespace {

class Run : public LinesCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    LinesCommand::add_options(app);
    add_input_files(app, "What is annotated");
    app.add_option(
           "--input-format", format_,
           "text (a blank line ends a paragraph), lines (text, a sentence a line), words (a "
           "sentence a line, words separated by spaces), columns (a word a line, the first "
           "column holds it) or conllu (fields that are _ are filled)")
        ->check(named(kFormats));
    app.add_flag("--no-mwt", whole_, "Do not split tokens into words");
    app.add_option("--lexicon", lexicon_,
                   "Words whose analyses are known: form, UPOS, lemma and perhaps FEATS, separated "
                   "by tabs; _ leaves a field to the model")
        ->type_name("FILE");
    add_output(app, "Where the sentences go, as CoNLL-U");
    app.add_flag("--ranges", ranges_,
                 "Say where each token is in the text: TokenRange in MISC, in code points");
    app.add_flag("--json", json_, "Print a JSON object for each sentence, one a line")
        ->excludes(add_html(app));
  }

 private:
  void write_lines(Model& model, OutputFile& out) override {
    const Task task = {.format = value_of(kFormats, format_, "input format"),
                       .multiwords = !whole_,
                       .ranges = ranges_};
    if (ranges_ && !task.is_text())
      throw UserError("--ranges needs text: --input-format " + format_ + " has none");
    const Lexicon lexicon = lexicon_.empty() ? Lexicon() : Lexicon::read({lexicon_, text_});
    if (!lexicon_.empty()) model.set_lexicon(&lexicon);
    SentenceWriter writer([&](const std::string& line) { out.write(line); },
                          model.description().treebank, json_);
    const auto annotate_file = [&](const TextSource& source) {
      for_documents(source, task, kMostWeight * model.threads(), [&](Document document) {
        warn_of_cut(annotate::annotate(model, {&document, 1}));
        for (const AnnotatedSentence& sentence : document.sentences) writer.write(sentence);
      });
    };
    if (files_.empty()) annotate_file(source());
    for (const std::string& file : files_) {
      writer.begin_document(std::filesystem::path(file).filename().string());
      annotate_file({file, text_});
    }
  }

  std::string format_ = "text", lexicon_;
  bool whole_ = false, ranges_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> run_command() { return std::make_unique<Run>(); }

}  // namespace annotate
