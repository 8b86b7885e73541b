#include "examples/nlp/annotate/document.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "dynet-like/base/version.h"
#include "examples/nlp/annotate/pipeline.h"
#include "examples/nlp/annotate/rows.h"
#include "examples/nlp/common/plain_text.h"
#include "examples/nlp/common/sentence_input.h"
#include "examples/nlp/common/text.h"

namespace annotate {

using namespace nlp;

namespace {

/// Makes paragraphs of the lines of a text.
class Paragraphs {
 public:
  /// With `by_line` each line is a paragraph, which continues the one before unless there was a
  /// blank line.
  explicit Paragraphs(bool by_line) : by_line_(by_line) {}

  /// Adds a line with its end; returns the paragraph that ended before it, if one did.
  std::optional<Paragraph> add(const std::u32string& line, bool is_blank) {
    std::optional<Paragraph> ended;
    if (!is_blank && is_complete_) ended = end();
    if (!is_blank && !has_text_) paragraph_.continues = by_line_ && is_behind_line_;
    has_text_ = has_text_ || !is_blank;
    is_behind_line_ = !is_blank;
    is_complete_ = has_text_ && (is_blank || by_line_);
    paragraph_.letters += line;
    return ended;
  }
  std::optional<Paragraph> end() {
    if (!has_text_) return std::nullopt;
    Paragraph ended = std::exchange(paragraph_, {});
    has_text_ = is_complete_ = false;
    return ended;
  }

 private:
  const bool by_line_;
  Paragraph paragraph_;
  bool has_text_ = false, is_complete_ = false, is_behind_line_ = false;
};

/// Text of a sentence whose tokens are given, as MISC says it. Throws LineError, see paragraphs_of.
std::string given_text(const conllu::Sentence& sentence) {
  const Paragraph paragraph = paragraphs_of({sentence}, false)[0];
  const Tokens& tokens = paragraph.sentences[0];
  std::string text = paragraph.text(tokens.front().begin, tokens.back().end);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return nlp::is_space(c); }, ' ');
  return text;
}

constexpr std::size_t kLettersOfWord = 8;  ///< that take about as long as a given word

/// Collects what is read into documents.
class Collected {
 public:
  Collected(const Task& task, std::size_t most, const std::function<void(Document)>& use)
      : most_(most), use_(use) {
    next_.task = task;
  }

  void add(Paragraph paragraph) {
    weight_ += paragraph.letters.size();
    next_.paragraphs.push_back(std::move(paragraph));
    if (weight_ > most_) end();
  }
  void add(const conllu::Sentence& rows) {
    weight_ += kLettersOfWord * rows.size();
    next_.texts.push_back(given_text(rows));
    next_.rows.push_back(rows);
    if (weight_ > most_) end();
  }
  void end() {
    if (next_.empty()) return;
    Document ended = std::exchange(next_, {});
    next_.task = ended.task;
    next_.offset = ended.offset;
    for (const Paragraph& paragraph : ended.paragraphs) next_.offset += paragraph.letters.size();
    weight_ = 0;
    use_(std::move(ended));
  }

 private:
  const std::size_t most_;
  const std::function<void(Document)>& use_;
  Document next_;
  std::size_t weight_ = 0;
};

void read_text(const TextSource& source, const Task& task, Collected& found) {
  const bool by_line = task.format == Format::kLines;
  Paragraphs paragraphs(by_line);
  const auto add = [&](std::optional<Paragraph> paragraph) {
    if (paragraph) found.add(std::move(*paragraph));
  };
  InputFile in(source, [&] {
    if (by_line) add(paragraphs.end());
    found.end();
  });
  PlainText plain(source);
  try {
    for (std::string line; in.next(line);) {
      plain.check(line, in);
      const std::u32string letters = code_points(line + in.line_end());
      add(paragraphs.add(letters, std::all_of(letters.begin(), letters.end(), annotate::is_space)));
    }
  } catch (const LineError&) {
    add(paragraphs.end());  // what was read before the error
    throw;
  }
  add(paragraphs.end());
}

void read_rows(const TextSource& source, const Task& task, Collected& found) {
  const InputFormat read_as = task.format == Format::kWords       ? InputFormat::kWords
                              : task.format == Format::kWordLines ? InputFormat::kColumns
                                                                  : InputFormat::kConllu;
  // Trees that stay must be trees.
  const bool keeps_trees = read_as == InputFormat::kConllu && !(task.trees && task.replace);
  for_pieces(
      source, read_as,
      [&](const InputSentence& sentence) {
        if (sentence.rows.size() == 0) return;
        if (keeps_trees) sentence_of(sentence.rows);
        found.add(sentence.rows);
      },
      [&] { found.end(); });
}

}  // namespace

std::size_t Document::weight() const {
  std::size_t weight = 0;
  for (const Paragraph& paragraph : paragraphs) weight += paragraph.letters.size();
  for (const conllu::Sentence& sentence : rows) weight += kLettersOfWord * sentence.size();
  return weight;
}

void for_documents(const TextSource& source, const Task& task, std::size_t most,
                   const std::function<void(Document)>& use) {
  Collected found(task, most, use);
  try {
    if (task.is_text())
      read_text(source, task, found);
    else
      read_rows(source, task, found);
  } catch (const LineError&) {
    found.end();
    throw;
  }
  found.end();
}

namespace {

/// Cuts the text of all documents; returns the number of sentences that were too long.
std::size_t segment_documents(Model& model, std::span<Document> documents) {
  std::size_t cut = 0;
  for (const Find find : {Find::kSentences, Find::kTokens}) {
    std::vector<Paragraph> paragraphs;
    const auto is_of = [&](const Document& document) {
      return document.task.format == (find == Find::kTokens ? Format::kLines : Format::kText);
    };
    for (Document& document : documents)
      if (is_of(document))
        std::move(document.paragraphs.begin(), document.paragraphs.end(),
                  std::back_inserter(paragraphs));
    cut += segment(model, paragraphs, find);
    auto paragraph = std::make_move_iterator(paragraphs.begin());
    for (Document& document : documents)
      if (is_of(document))
        for (Paragraph& own : document.paragraphs) own = *paragraph++;
  }
  for (Document& document : documents)
    if (!document.task.multiwords) remove_multiwords(document.paragraphs);
  return cut;
}

/// Splits tokens of documents that have them into words.
void split_documents(Model& model, std::span<Document> documents) {
  std::vector<conllu::Sentence> rows;
  const auto is_to_split = [](const Document& d) { return d.task.multiwords; };
  for (Document& document : documents)
    if (is_to_split(document))
      std::move(document.rows.begin(), document.rows.end(), std::back_inserter(rows));
  rows = with_multiwords(model, std::move(rows));
  auto row = std::make_move_iterator(rows.begin());
  for (Document& document : documents)
    if (is_to_split(document))
      for (conllu::Sentence& own : document.rows) own = *row++;
}

/// The columns and the tree that a task wants; the other columns are `_`.
Annotation selected(Annotation annotation, const Task& task) {
  if (!task.columns) annotation.columns.fill(std::vector<std::string>(annotation.size(), "_"));
  if (!task.trees) annotation.heads.clear();
  return annotation;
}

}  // namespace

std::size_t annotate(Model& model, std::span<Document> documents) {
  const std::size_t cut = segment_documents(model, documents);
  split_documents(model, documents);
  std::vector<std::vector<std::string>> words;
  for (const Document& document : documents) {
    if (!document.task.columns && !document.task.trees) continue;
    for (const Paragraph& paragraph : document.paragraphs)
      for (const Tokens& sentence : paragraph.sentences)
        words.push_back(words_of(paragraph, sentence));
    for (const conllu::Sentence& sentence : document.rows) words.push_back(sentence.words());
  }
  std::vector<Annotation> found = annotate_words(model, words, "");
  auto next = found.begin();
  for (Document& document : documents) {
    const Task& task = document.task;
    const bool is_wanted = task.columns || task.trees;
    std::size_t letters = document.offset;
    for (const Paragraph& paragraph : document.paragraphs) {
      bool begins = !paragraph.continues;
      for (const Tokens& sentence : paragraph.sentences) {
        Annotation own;
        if (is_wanted)
          own = std::move(*next++);
        else
          own.words = words_of(paragraph, sentence);
        own = selected(std::move(own), task);
        document.sentences.push_back(
            {conllu_lines(paragraph, sentence, own,
                          task.ranges ? std::optional(letters) : std::nullopt),
             text_of(paragraph, sentence), std::exchange(begins, false)});
      }
      letters += paragraph.letters.size();
    }
    for (std::size_t i = 0; i < document.rows.size(); ++i) {
      if (is_wanted) fill(document.rows[i], *next++, {task.columns, task.trees, task.replace});
      document.sentences.push_back({document.rows[i].lines(), document.texts[i], false});
    }
  }
  return cut;
}

SentenceWriter::SentenceWriter(Write write, const std::string& model, bool json)
    : write_(std::move(write)), json_(json) {
  first_ = {"# generator = annotate " + std::string(dynet::version()), "# model = " + model};
}

void SentenceWriter::write(const AnnotatedSentence& sentence) {
  const auto begins_document = [](const std::string& line) {
    return line.rfind("# newdoc", 0) == 0;
  };
  const auto has = [&](const std::string& comment) {
    return std::any_of(sentence.lines.begin(), sentence.lines.end(),
                       [&](const std::string& line) { return line.rfind(comment + " =", 0) == 0; });
  };
  ++count_;
  std::vector<std::string> all = std::exchange(first_, {});
  if (std::any_of(sentence.lines.begin(), sentence.lines.end(), begins_document))
    std::erase_if(all, begins_document);
  if (sentence.begins_paragraph) all.push_back("# newpar");
  if (!has("# sent_id")) all.push_back("# sent_id = " + std::to_string(count_));
  if (!has("# text")) all.push_back("# text = " + sentence.text);
  all.insert(all.end(), sentence.lines.begin(), sentence.lines.end());
  if (json_) return write_(json_line(json_of({all, {0, all.size()}, "output"})));
  for (const std::string& line : all) write_(line);
  write_("");
}

}  // namespace annotate
