#include "commands.h"

#include <iostream>

#include "examples/nlp/common/model_command.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/common/text.h"
#include "kingjames.h"
#include "model.h"

namespace tagger {

using namespace nlp;

namespace {

/// A verse or sentence as it was, what the model saw, and what it made of it.
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

/// Shows sentences of a readable length from all over the corpus.
void show_sentences(Model& model, const Corpus& corpus, std::size_t count, std::ostream& out) {
  const auto readable = [](const Sentence& s) {
    return s.words.size() >= 8 && s.words.size() <= 30;
  };
  dynet::ComputationGraph graph;
  for (const std::size_t place : some_places(corpus, count, readable)) {
    const Sentence& sentence = corpus[place];
    show_sentence(sentence, model.tag(graph, sentence.words), model.description().kind, out);
  }
  out.flush();
}

std::string tagged_line(Model& model, dynet::ComputationGraph& graph, const std::string& line,
                        bool as_tags) {
  const bool restoring = model.description().kind == TagKind::kMarks;
  const std::vector<std::string> words = restoring ? annotate(line).words : split_words(line);
  const std::vector<std::string> tags = model.tag(graph, words);
  if (restoring && !as_tags) return restore(words, tags);
  std::string result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) result += ' ';
    result += words[i] + "|" + tags[i];
  }
  return result;
}

class Eval : public EvalCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    EvalCommand::add_options(app);
    add_data(app, "Tagged data");
    app.add_option("--part", part_,
                   "all, train, dev or test: the part of the data that the model's --split made");
    app.add_option("--show", show_, "Show so many sentences before and after")
        ->check(InRange(0, 1000000));
    app.add_option("--format", format_, std::string(kFormatHelp) + "; else as in training");
    app.add_option("--column", column_, "Column of the tag; else as in training");
  }

 private:
  void evaluate(Model& model) override {
    DataSettings data = model.description().data;
    if (!format_.empty()) {
      data.format = format_from_name(format_);
      data.column.clear();
    }
    if (!column_.empty()) data.column = column_;
    const Corpus corpus = read_part(data_, part_, data.split, [&](const std::string& path) {
      return read_corpus(path, {data.format, data.column}).corpus;
    });
    tagger::evaluate(model, corpus, part_ == "all" ? data_ : part_).print(std::cout);
    if (show_ > 0) show_sentences(model, corpus, show_, std::cout);
  }

  std::string format_, column_;  ///< empty: as in training
  std::string part_ = "all";
  std::size_t show_ = 0;
};

class Tag : public LinesCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    LinesCommand::add_options(app);
    add_input(app, "Sentences, one a line, words separated by spaces");
    add_output(app, "Where word|TAG lines or restored text go");
    app.add_flag("--tags", tags_, "word|TAG lines even if the model restores text");
  }

 private:
  void write_lines(Model& model, OutputFile& out) override {
    InputFile in(input_);
    dynet::ComputationGraph graph;
    std::string line;
    while (in.next(line)) out.write(tagged_line(model, graph, line, tags_));
  }

  bool tags_ = false;
};

}  // namespace

std::unique_ptr<Command> eval_command() { return std::make_unique<Eval>(); }
std::unique_ptr<Command> tag_command() { return std::make_unique<Tag>(); }

}  // namespace tagger
