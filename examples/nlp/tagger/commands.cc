#include "commands.h"

#include <iostream>

#include "examples/nlp/common/model_command.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/common/score_options.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/common/text.h"
#include "kingjames.h"
#include "model.h"
#include "score_page.h"

namespace tagger {

using namespace nlp;

namespace {

/// Shows a sentence, the model's input, and its prediction.
void show_sentence(const Sentence& sentence, const std::vector<std::string>& predicted,
                   TagKind kind, std::ostream& out) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) right += predicted[i] == sentence.tags[i];
  out << '\n';
  if (!sentence.name.empty()) out << join(split_words(sentence.name), " ") << ' ';
  out << '(' << right << " of " << predicted.size() << " words right)\n";
  if (kind == TagKind::kMarks) {
    out << "  before:   " << join(sentence.words, " ") << '\n'
        << "  restored: " << restore(sentence.words, predicted) << '\n'
        << "  original: " << restore(sentence.words, sentence.tags) << '\n';
    return;
  }
  out << " ";
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    out << ' ' << sentence.words[i] << '|' << predicted[i];
    if (predicted[i] != sentence.tags[i]) out << "(not " << sentence.tags[i] << ')';
  }
  out << '\n';
}

/// Shows sentences of moderate length, evenly spaced over the corpus.
void show_sentences(Model& model, const Corpus& corpus, std::size_t count, std::ostream& out) {
  const auto readable = [](const Sentence& s) {
    return s.words.size() >= 8 && s.words.size() <= 30;
  };
  for (const std::size_t place : some_places(corpus, count, readable)) {
    const Sentence& sentence = corpus[place];
    show_sentence(sentence, tag_all(model, {&sentence.words})[0].tags, model.description().kind,
                  out);
  }
  out.flush();
}

class Eval : public EvalCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    EvalCommand::add_options(app);
    add_data(app, "Tagged data");
    app.add_option("--part", part_,
                   "all, train, dev or test: the part of the data that the model's --split made")
        ->check(named(kParts));
    app.add_option("--format", format_, std::string(kFormatHelp) + "; else as in training")
        ->check(named(kFormats));
    app.add_option("--column", column_, "Column of the tag; else as in training");
    begin_group(app, kOutputOptions);
    app.add_option("--show", show_, "Show so many sentences before and after")
        ->transform(InRange(0, 1000000));
    app.add_option("--html", page_,
                   "Page of the scores: by class, for unknown words, by length of the sentence, "
                   "and the errors that the model was surest of")
        ->type_name("FILE");
    scores_.add_labels(app, "tags, or of the types of spans,");
    scores_.add_json(app, {"--show"});
  }

 private:
  void evaluate(Model& model) override {
    DataSettings data = model.description().data;
    if (!format_.empty()) {
      data.format = format_from_name(format_);
      data.column.clear();
    }
    if (!column_.empty()) data.column = column_;
    const Corpus corpus = read_part(source(), part_, data.split, [&](const TextSource& file) {
      return read_corpus(file, {data.format, data.column}).corpus;
    });
    model.report_unknown_tags(corpus, data_);
    std::unique_ptr<OutputFile> page;  // refused before the work
    if (!page_.empty())
      page = std::make_unique<OutputFile>(program::NamedFile{"--html", page_},
                                          files_read(saved_, {"--data", data_}));
    std::vector<Tagging> found;
    const Report report =
        tagger::evaluate(model, corpus, part_ == "all" ? data_ : part_, page ? &found : nullptr);
    print_scores(report, Model::kProgram, scores_, std::cout);
    if (show_ > 0) show_sentences(model, corpus, show_, std::cout);
    if (!page) return;
    page->write(score_page(report, corpus, found, model.description().baseline));
    page->finish();
  }

  std::string format_, column_;  ///< empty: as in training
  std::string part_ = "all";
  ScoreOptions scores_;
  std::size_t show_ = 0;
  std::string page_;
};

}  // namespace

std::unique_ptr<Command> eval_command() { return std::make_unique<Eval>(); }

}  // namespace tagger
