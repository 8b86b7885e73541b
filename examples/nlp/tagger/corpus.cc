#include "corpus.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "examples/nlp/common/files.h"
#include "examples/nlp/common/names.h"
#include "examples/nlp/common/text.h"
#include "kingjames.h"

namespace tagger {

using namespace nlp;

namespace {

constexpr std::array<const char*, 10> kConlluColumns = {"ID",    "FORM", "LEMMA",  "UPOS", "XPOS",
                                                        "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"};
constexpr std::size_t kMostColumns = 1000;

const Names<Format> kFormats = {{Format::kAuto, "auto"},   {Format::kConllu, "conllu"},
                                {Format::kPipe, "pipe"},   {Format::kColumns, "columns"},
                                {Format::kBible, "bible"}, {Format::kText, "text"}};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

/// "8", "8-9" (a multiword token) or "8.1" (an empty node).
enum class ConlluId { kWord, kRange, kEmptyNode, kWrong };

ConlluId classify_id(std::string_view id) {
  if (all_digits(id)) return ConlluId::kWord;
  const std::size_t at = id.find_first_of("-.");
  if (at == std::string_view::npos || !all_digits(id.substr(0, at)) ||
      !all_digits(id.substr(at + 1))) {
    return ConlluId::kWrong;
  }
  return id[at] == '-' ? ConlluId::kRange : ConlluId::kEmptyNode;
}

/// The place of the tag, counted from 0.
std::size_t conllu_column(const std::string& wanted) {
  if (wanted.empty()) return 3;
  for (std::size_t i = 0; i < kConlluColumns.size(); ++i) {
    if (lower_cased(wanted) == lower_cased(kConlluColumns[i])) return i;
  }
  if (all_digits(wanted)) {
    const std::size_t number = parse_number(wanted, "--column", kConlluColumns.size());
    if (number > 0) return number - 1;
  }
  throw UserError("a CoNLL-U file has no column " + quoted(wanted) +
                  ": expected a number from 1 to 10 or one of ID FORM LEMMA UPOS XPOS FEATS HEAD "
                  "DEPREL DEPS MISC");
}

/// Collects words until a sentence ends.
class Builder {
 public:
  void add(std::string word, std::string tag) {
    sentence_.words.push_back(std::move(word));
    sentence_.tags.push_back(std::move(tag));
  }
  void end() {
    if (!sentence_.words.empty()) corpus_.push_back(std::move(sentence_));
    sentence_ = Sentence();
  }
  Corpus take() {
    end();
    return std::move(corpus_);
  }

 private:
  Sentence sentence_;
  Corpus corpus_;
};

Corpus read_conllu(const std::vector<std::string>& lines, const std::string& name,
                   const ReadOptions& options) {
  const std::size_t column = conllu_column(options.column);
  Builder builder;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (is_blank(line)) {
      builder.end();
      continue;
    }
    if (line[0] == '#') continue;
    std::vector<std::string> fields = split_fields(line, '\t');
    if (fields.size() != kConlluColumns.size()) {
      throw LineError(name, i + 1,
                      "expected the 10 tab-separated columns of CoNLL-U, found " +
                          std::to_string(fields.size()) + " in " + quoted(line));
    }
    const ConlluId id = classify_id(fields[0]);
    if (id == ConlluId::kWrong) {
      throw LineError(name, i + 1,
                      "expected a word number such as 8, 8-9 or 8.1 in the first column, found " +
                          quoted(fields[0]));
    }
    if (id != ConlluId::kWord) continue;
    if (fields[1].empty()) throw LineError(name, i + 1, "the word (column 2, FORM) is empty");
    if (fields[column].empty()) {
      throw LineError(name, i + 1,
                      "the tag (column " + std::to_string(column + 1) + ", " +
                          kConlluColumns[column] + ") is empty");
    }
    builder.add(std::move(fields[1]), std::move(fields[column]));
  }
  return builder.take();
}

Corpus read_pipe(const std::vector<std::string>& lines, const std::string& name,
                 const ReadOptions& options) {
  if (!options.column.empty()) {
    throw UserError("--column means nothing for word|TAG lines: the tag follows the last '|'");
  }
  Builder builder;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const std::string& token : split_words(lines[i])) {
      const std::size_t at = token.rfind('|');
      if (at == std::string::npos || at == 0 || at + 1 == token.size()) {
        throw LineError(name, i + 1, "expected word|TAG, found " + quoted(token));
      }
      builder.add(token.substr(0, at), token.substr(at + 1));
    }
    builder.end();
  }
  return builder.take();
}

/// The columns of one line: split at tabs if there is one, at white space otherwise.
std::vector<std::string> column_fields(const std::string& line) {
  return line.find('\t') != std::string::npos ? split_fields(line, '\t') : split_words(line);
}

/// True if the lines from `first` on look like columns: a few of them, the same number on each
/// line.
bool shows_columns(const std::vector<std::string>& lines, std::size_t first) {
  constexpr std::size_t kLooks = 20;
  constexpr std::size_t kMostFields = 5;
  const std::size_t wanted = column_fields(lines[first]).size();
  if (wanted < 2 || wanted > kMostFields) return false;
  std::size_t same = 0;
  std::size_t seen = 0;
  for (std::size_t i = first; i < lines.size() && seen < kLooks; ++i) {
    if (is_blank(lines[i])) continue;
    ++seen;
    if (column_fields(lines[i]).size() == wanted) ++same;
  }
  return 2 * same >= seen;  // a wrong line or two are for the reader to complain about
}

Corpus read_columns(const std::vector<std::string>& lines, const std::string& name,
                    const ReadOptions& options) {
  std::size_t column = 0;  // counted from 1; 0 is the last
  if (!options.column.empty()) {
    if (!all_digits(options.column)) {
      throw UserError("a column file has no column " + quoted(options.column) +
                      ": expected a number from 1");
    }
    column = parse_number(options.column, "--column", kMostColumns);
    if (column == 0) throw UserError("--column counts from 1, so 0 names no column");
  }
  Builder builder;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_blank(lines[i])) {
      builder.end();
      continue;
    }
    std::vector<std::string> fields = column_fields(lines[i]);
    const std::size_t needed = std::max<std::size_t>(2, column);
    if (fields.size() < needed) {
      throw LineError(name, i + 1,
                      "expected a word and its tag in at least " + std::to_string(needed) +
                          " columns, found " + std::to_string(fields.size()) + " in " +
                          quoted(lines[i]));
    }
    if (fields[0] == "-DOCSTART-") continue;
    const std::size_t place = column == 0 ? fields.size() - 1 : column - 1;
    if (fields[0].empty()) throw LineError(name, i + 1, "the word (column 1) is empty");
    if (fields[place].empty()) {
      throw LineError(name, i + 1, "the tag (column " + std::to_string(place + 1) + ") is empty");
    }
    builder.add(std::move(fields[0]), std::move(fields[place]));
  }
  return builder.take();
}

Corpus read_running_text(const std::vector<std::string>& lines, const std::string& name,
                         const ReadOptions& options) {
  if (!options.column.empty()) {
    throw UserError(std::string("--column means nothing for ") + format_name(options.format) +
                    " files: the tags are the case of the words and the marks after them");
  }
  Corpus corpus;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_blank(lines[i])) continue;
    std::string_view text = lines[i];
    std::string reference;
    if (options.format == Format::kBible) {
      const std::size_t length = verse_reference_length(text);
      if (length == 0) {
        throw LineError(
            name, i + 1,
            "expected a verse such as 'Ge1:1 In the beginning ...', found " + quoted(text));
      }
      reference = std::string(text.substr(0, length));
      text = text.substr(length);
    }
    Sentence sentence = annotate(text);
    if (sentence.words.empty()) {
      throw LineError(name, i + 1, "expected words, found " + quoted(lines[i]));
    }
    sentence.name = std::move(reference);
    corpus.push_back(std::move(sentence));
  }
  return corpus;
}

}  // namespace

const char* format_name(Format format) { return name_of(kFormats, format); }

Format format_from_name(const std::string& name) { return value_of(kFormats, name, "format"); }

Format guess_format(const std::vector<std::string>& lines, const std::string& name) {
  // The first line that is not blank decides.
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (is_blank(line)) continue;
    const std::vector<std::string> fields = split_fields(line, '\t');
    // A CoNLL-U file with a wrong first line should be told so, hence the looser signs.
    const bool numbered = fields.size() > 4 && classify_id(fields[0]) != ConlluId::kWrong;
    const bool comment = line.rfind("# sent_id", 0) == 0 || line.rfind("# text", 0) == 0 ||
                         line.rfind("# newdoc", 0) == 0 || line.rfind("# global.", 0) == 0;
    if (numbered || comment || ends_with(name, ".conllu")) return Format::kConllu;
    if (verse_reference_length(line) > 0) return Format::kBible;
    const std::vector<std::string> words = split_words(line);
    const bool pipes = std::all_of(words.begin(), words.end(), [](const std::string& word) {
      const std::size_t at = word.rfind('|');
      return at != std::string::npos && at > 0 && at + 1 < word.size();
    });
    if (pipes) return Format::kPipe;
    if (shows_columns(lines, i)) return Format::kColumns;
    throw LineError(name, i + 1,
                    "cannot tell the format from " + quoted(line) +
                        ": expected CoNLL-U, word|TAG, a word and its tag in columns, or verses "
                        "such as 'Ge1:1 In the beginning ...' (--format names one)");
  }
  throw UserError(name + " holds no sentence");
}

ReadResult read_corpus(std::istream& in, const std::string& name, const ReadOptions& options) {
  const std::vector<std::string> lines = read_lines(in, name);
  ReadOptions known = options;
  if (known.format == Format::kAuto) known.format = guess_format(lines, name);
  ReadResult result;
  result.format = known.format;
  switch (known.format) {
    case Format::kConllu:
      result.corpus = read_conllu(lines, name, known);
      break;
    case Format::kPipe:
      result.corpus = read_pipe(lines, name, known);
      break;
    case Format::kColumns:
      result.corpus = read_columns(lines, name, known);
      break;
    case Format::kBible:
    case Format::kText:
    case Format::kAuto:
      result.corpus = read_running_text(lines, name, known);
      break;
  }
  if (result.corpus.empty()) throw UserError(name + " holds no sentence");
  return result;
}

ReadResult read_corpus(const std::string& path, const ReadOptions& options) {
  InputFile file(path);
  return read_corpus(file.stream(), path, options);
}

std::size_t count_words(const Corpus& corpus) {
  return std::accumulate(
      corpus.begin(), corpus.end(), std::size_t{0},
      [](std::size_t sum, const Sentence& sentence) { return sum + sentence.words.size(); });
}

}  // namespace tagger
