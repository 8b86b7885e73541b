#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "dynet-like/base/version.h"
#include "examples/nlp/annotate/commands.h"
#include "examples/nlp/annotate/lexicon.h"
#include "examples/nlp/annotate/pipeline.h"
#include "examples/nlp/annotate/rows.h"
#include "examples/nlp/common/model_command.h"
#include "examples/nlp/common/plain_text.h"
#include "examples/nlp/common/sentence_input.h"

namespace annotate {

using namespace nlp;

namespace {

/// Form of the input.
enum class Format { kText, kLines, kWords, kColumns, kConllu };
const Names<Format> kFormats = {{Format::kText, "text"},
                                {Format::kLines, "lines"},
                                {Format::kWords, "words"},
                                {Format::kColumns, "columns"},
                                {Format::kConllu, "conllu"}};

/// Writes sentences, as CoNLL-U or as JSON.
class Writer {
 public:
  Writer(OutputFile& out, bool json, const std::string& model) : out_(out), json_(json) {
    first_ = {"# generator = annotate " + std::string(dynet::version()), "# model = " + model};
  }

  void begin_document(const std::string& id) { first_.push_back("# newdoc id = " + id); }

  /// Writes the lines of a sentence; `text` is the one for a sentence whose lines do not say it.
  void write(const std::vector<std::string>& lines, const std::string& text,
             bool begins_paragraph) {
    ++count_;
    std::vector<std::string> all = std::exchange(first_, {});
    if (std::any_of(lines.begin(), lines.end(), begins_document))
      std::erase_if(all, begins_document);
    if (begins_paragraph) all.push_back("# newpar");
    if (!has(lines, "# sent_id")) all.push_back("# sent_id = " + std::to_string(count_));
    if (!has(lines, "# text")) all.push_back("# text = " + text);
    all.insert(all.end(), lines.begin(), lines.end());
    if (json_) return out_.write(json_line(json_of({all, {0, all.size()}, "output"})));
    for (const std::string& line : all) out_.write(line);
    out_.write("");
  }

 private:
  static bool begins_document(const std::string& line) { return line.rfind("# newdoc", 0) == 0; }
  static bool has(const std::vector<std::string>& lines, const std::string& comment) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return line.rfind(comment + " =", 0) == 0; });
  }

  OutputFile& out_;
  const bool json_;
  std::vector<std::string> first_;  ///< comments for the next sentence
  std::size_t count_ = 0;
};

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

class Run : public LinesCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    LinesCommand::add_options(app);
    add_input_files(app, "What is annotated");
    app.add_option(
        "--input-format", format_,
        "text (a blank line ends a paragraph), lines (text, a sentence a line), words (a "
        "sentence a line, words separated by spaces), columns (a word a line, the first "
        "column holds it) or conllu (fields that are _ are filled)");
    app.add_flag("--no-mwt", whole_, "Do not split tokens into words");
    app.add_option("--lexicon", lexicon_,
                   "Words whose analyses are known: form, UPOS, lemma and perhaps FEATS, separated "
                   "by tabs; _ leaves a field to the model");
    add_output(app, "Where the sentences go, as CoNLL-U");
    app.add_flag("--ranges", ranges_,
                 "Say where each token is in the text: TokenRange in MISC, in code points");
    app.add_flag("--json", json_, "Print a JSON object for each sentence, one a line");
  }

 private:
  /// Letters, or words, that are annotated together.
  static constexpr std::size_t kLetters = 1 << 15, kWords = 1 << 12;

  void write_lines(Model& model, OutputFile& out) override {
    const Format format = value_of(kFormats, format_, "input format");
    const bool is_text = format == Format::kText || format == Format::kLines;
    if (ranges_ && !is_text)
      throw UserError("--ranges needs text: --input-format " + format_ + " has none");
    const Lexicon lexicon = lexicon_.empty() ? Lexicon() : Lexicon::read({lexicon_, text_});
    if (!lexicon_.empty()) model.set_lexicon(&lexicon);
    Writer writer(out, json_, model.description().treebank);
    const auto annotate = [&](const TextSource& source) {
      if (is_text)
        annotate_text_of(model, source, format == Format::kLines, writer);
      else
        annotate_rows_of(model, source, format, writer);
    };
    if (files_.empty()) annotate(source());
    for (const std::string& file : files_) {
      writer.begin_document(std::filesystem::path(file).filename().string());
      annotate({file, text_});
    }
  }

  void annotate_text_of(Model& model, const TextSource& source, bool by_line, Writer& writer) {
    std::vector<Paragraph> waiting;
    std::size_t letters = 0, written = 0;
    const auto write = [&] {
      write_text(model, std::exchange(waiting, {}), by_line ? Find::kTokens : Find::kSentences,
                 written, writer);
      letters = 0;
    };
    Paragraphs paragraphs(by_line);
    const auto add = [&](std::optional<Paragraph> paragraph) {
      if (!paragraph) return;
      letters += paragraph->letters.size();
      waiting.push_back(std::move(*paragraph));
      if (letters > kLetters * model.threads()) write();
    };
    InputFile in(source, [&] {
      if (by_line) add(paragraphs.end());
      write();
    });
    PlainText plain;
    try {
      for (std::string line; in.next(line);) {
        plain.check(line, in);
        const std::u32string found = code_points(line + in.line_end());
        add(paragraphs.add(found, std::all_of(found.begin(), found.end(), annotate::is_space)));
      }
    } catch (const LineError&) {
      add(paragraphs.end());  // what was read before the error
      write();
      throw;
    }
    add(paragraphs.end());
    write();
  }

  void write_text(Model& model, std::vector<Paragraph> paragraphs, Find find, std::size_t& letters,
                  Writer& writer) const {
    segment(model, paragraphs, find);
    if (whole_) remove_multiwords(paragraphs);
    const Annotated annotated = annotate_text(model, std::move(paragraphs), "");
    auto annotation = annotated.sentences.begin();
    for (const Paragraph& paragraph : annotated.paragraphs) {
      std::optional<std::size_t> offset;
      if (ranges_) offset = letters;
      bool begins = !paragraph.continues;
      for (const Tokens& sentence : paragraph.sentences)
        writer.write(conllu_lines(paragraph, sentence, *annotation++, offset),
                     text_of(paragraph, sentence), std::exchange(begins, false));
      letters += paragraph.letters.size();
    }
  }

  /// Sentences of words, with their text.
  struct Rows {
    std::vector<conllu::Sentence> sentences;
    std::vector<std::string> texts;
    std::size_t words = 0;
  };

  void annotate_rows_of(Model& model, const TextSource& source, Format format, Writer& writer) {
    Rows waiting;
    const auto write = [&] { write_rows(model, std::exchange(waiting, {}), writer); };
    const InputFormat read_as = format == Format::kWords     ? InputFormat::kWords
                                : format == Format::kColumns ? InputFormat::kColumns
                                                             : InputFormat::kConllu;
    try {
      for_pieces(
          source, read_as,
          [&](const InputSentence& found) {
            if (found.rows.size() == 0) return;
            waiting.texts.push_back(given_text(found.rows));
            waiting.sentences.push_back(found.rows);
            waiting.words += found.rows.size();
            if (waiting.words > kWords * model.threads()) write();
          },
          write);
    } catch (const LineError&) {
      write();  // sentences before the error
      throw;
    }
    write();
  }

  void write_rows(Model& model, Rows rows, Writer& writer) const {
    if (!whole_) rows.sentences = with_multiwords(model, std::move(rows.sentences));
    fill(model, rows.sentences, {}, "");
    for (std::size_t i = 0; i < rows.sentences.size(); ++i)
      writer.write(rows.sentences[i].lines(), rows.texts[i], false);
  }

  std::string format_ = "text", lexicon_;
  bool whole_ = false, ranges_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> run_command() { return std::make_unique<Run>(); }

}  // namespace annotate
