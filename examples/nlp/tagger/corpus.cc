#include "corpus.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string_view>
#include <utility>

#include "examples/nlp/common/conllu.h"
#include "examples/nlp/common/files.h"
#include "examples/nlp/common/names.h"
#include "examples/nlp/common/text.h"
#include "kingjames.h"
#include "pipe.h"

namespace tagger {

using namespace nlp;

namespace {

constexpr std::size_t kMostColumns = 1000;

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Reader of the sentences of one text.
struct Source {
  const std::vector<std::string>& lines;
  const TextSource& text;
  const ReadOptions& options;

  [[noreturn]] void refuse(std::size_t line, const std::string& what) const {
    throw LineError(text.name(), line + 1, what);
  }
  /// Sentences read by `read(range)` from ranges of lines, without empty ones.
  template <typename Read>
  Corpus read_all(const std::vector<LineRange>& ranges, Read read) const {
    Corpus corpus;
    SampleReader reader(text, "sentence");
    for (const LineRange& range : ranges) {
      reader.read([&] {
        Sentence sentence = read(range);
        require_readable(sentence.words.size(), range.begin + 1, text.name());
        sentence.line = range.begin + 1;
        if (!sentence.words.empty()) corpus.push_back(std::move(sentence));
      });
    }
    return corpus;
  }
};

void add_word(Sentence& sentence, std::string word, std::string tag) {
  sentence.words.push_back(std::move(word));
  sentence.tags.push_back(std::move(tag));
}

/// One range per line that is not blank.
std::vector<LineRange> single_lines(const std::vector<std::string>& lines) {
  std::vector<LineRange> ranges;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!is_blank(lines[i])) ranges.push_back({i, i + 1});
  }
  return ranges;
}

Corpus read_conllu(const Source& source) {
  const conllu::Column column =
      source.options.column.empty() ? conllu::kUpos : conllu::column_of(source.options.column);
  return source.read_all(blocks_of(source.lines), [&](const LineRange& range) {
    const conllu::Sentence lines(source.lines, range, source.text.name());
    Sentence sentence;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      std::vector<std::string> fields = lines.fields(i);
      lines.require_filled(i, fields, column, "tag");
      add_word(sentence, fields[conllu::kForm], fields[column]);
    }
    return sentence;
  });
}

Corpus read_pipe(const Source& source) {
  if (!source.options.column.empty()) {
    throw UserError("--column means nothing for word|TAG lines: the tag follows the last '|'");
  }
  return source.read_all(single_lines(source.lines), [&](const LineRange& range) {
    Sentence sentence;
    for (const std::string& token : split_words(source.lines[range.begin])) {
      const TaggedWord tagged = from_pipe(token);
      if (tagged.word.empty() || tagged.tag.empty())
        source.refuse(range.begin, "expected word|TAG, found " + in_quotes(token));
      add_word(sentence, tagged.word, tagged.tag);
    }
    return sentence;
  });
}

/// Columns of a line: separated by tabs if it has one, otherwise by white space.
std::vector<std::string> column_fields(const std::string& line) {
  return line.find('\t') != std::string::npos ? split_fields(line, '\t') : split_words(line);
}

/// True if lines from `first` on look like columns: few, and equally many per line.
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
  return 2 * same >= seen;  // tolerates malformed lines, which the reader reports
}

/// Number of --column in a column file, 0 for the last one.
std::size_t wanted_column(const std::string& text) {
  if (text.empty()) return 0;
  if (!std::all_of(text.begin(), text.end(), is_digit))
    throw UserError("a column file has no column " + in_quotes(text) +
                    ": expected a number from 1");
  const std::size_t column = parse_number(text, "--column", kMostColumns);
  if (column == 0) throw UserError("--column counts from 1, so 0 names no column");
  return column;
}

Corpus read_columns(const Source& source) {
  const std::size_t column = wanted_column(source.options.column);
  const std::size_t needed = std::max<std::size_t>(2, column);
  std::size_t width = 0, width_line = 0;  // of the first line with a word
  return source.read_all(blocks_of(source.lines), [&](const LineRange& range) {
    Sentence sentence;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const std::vector<std::string> fields = column_fields(source.lines[i]);
      if (fields[0] == "-DOCSTART-") continue;
      if (fields.size() < needed) {
        source.refuse(i, "expected a word and its tag in at least " + std::to_string(needed) +
                             " columns, found " + std::to_string(fields.size()) + " in " +
                             in_quotes(source.lines[i]));
      }
      if (width == 0) {
        width = fields.size();
        width_line = i + 1;
      }
      if (fields.size() != width) {
        source.refuse(i, "expected " + std::to_string(width) + " columns as in line " +
                             std::to_string(width_line) + ", found " +
                             std::to_string(fields.size()) + " in " + in_quotes(source.lines[i]));
      }
      const std::size_t place = column == 0 ? width - 1 : column - 1;
      if (fields[0].empty()) source.refuse(i, "the word (column 1) is empty");
      if (fields[place].empty())
        source.refuse(i, "the tag (column " + std::to_string(place + 1) + ") is empty");
      add_word(sentence, fields[0], fields[place]);
    }
    return sentence;
  });
}

Corpus read_running_text(const Source& source) {
  const ReadOptions& options = source.options;
  if (!options.column.empty()) {
    throw UserError(std::string("--column means nothing for ") + format_name(options.format) +
                    " files: the tags are the case of the words and the marks after them");
  }
  return source.read_all(single_lines(source.lines), [&](const LineRange& range) {
    const std::string& line = source.lines[range.begin];
    const std::size_t length = options.format == Format::kBible ? verse_reference_length(line) : 0;
    if (options.format == Format::kBible && length == 0) {
      source.refuse(range.begin, "expected a verse such as 'Ge1:1 In the beginning ...', found " +
                                     in_quotes(line));
    }
    Sentence sentence = annotate(std::string_view(line).substr(length));
    if (sentence.words.empty())
      source.refuse(range.begin, "expected words, found " + in_quotes(line));
    sentence.name = line.substr(0, length);
    return sentence;
  });
}

/// Paths of the words and of the tags.
std::pair<TextSource, TextSource> parallel_files(const TextSource& text) {
  if (std::filesystem::is_directory(text.path)) {
    const std::filesystem::path folder = text.path;
    return {{(folder / "seq.in").string(), text.options},
            {(folder / "seq.out").string(), text.options}};
  }
  const std::vector<std::string> files = split_fields(text.path, ',');
  if (files.size() != 2)
    throw UserError(
        "--format parallel takes a folder with seq.in and seq.out, or two files as in "
        "words.txt,tags.txt, not " +
        in_quotes(text.path));
  return {{files[0], text.options}, {files[1], text.options}};
}

Corpus read_parallel(const TextSource& text, const ReadOptions& options) {
  if (!options.column.empty())
    throw UserError(
        "--column means nothing for parallel files: the tags are the words of the other");
  const std::pair<TextSource, TextSource> files = parallel_files(text);
  const TextSource &word_file = files.first, &tag_file = files.second;
  const std::vector<std::string> words = read_lines(word_file), tags = read_lines(tag_file);
  if (words.size() != tags.size())
    throw UserError(word_file.name() + " has " + std::to_string(words.size()) + " lines, " +
                    tag_file.name() + " " + std::to_string(tags.size()));
  const Source source{words, word_file, options};
  return source.read_all(single_lines(words), [&](const LineRange& range) {
    Sentence sentence;
    sentence.words = split_words(words[range.begin]);
    sentence.tags = split_words(tags[range.begin]);
    if (sentence.words.size() != sentence.tags.size())
      throw LineError(tag_file.name(), range.begin + 1,
                      "expected " + std::to_string(sentence.words.size()) +
                          " tags, as the line has words in " + word_file.name() + ", found " +
                          std::to_string(sentence.tags.size()));
    return sentence;
  });
}

}  // namespace

const char* format_name(Format format) { return name_of(kFormats, format); }

Format format_from_name(const std::string& name) { return value_of(kFormats, name, "format"); }

Format guess_format(const std::vector<std::string>& lines, const std::string& name) {
  // Decides by the first line that is not blank.
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (is_blank(line)) continue;
    if (conllu::is_conllu(line) || ends_with(name, ".conllu")) return Format::kConllu;
    if (verse_reference_length(line) > 0) return Format::kBible;
    const std::vector<std::string> words = split_words(line);
    const bool pipes = std::all_of(words.begin(), words.end(), [](const std::string& word) {
      const TaggedWord tagged = from_pipe(word);
      return !tagged.word.empty() && !tagged.tag.empty();
    });
    if (pipes) return Format::kPipe;
    if (shows_columns(lines, i)) return Format::kColumns;
    throw LineError(name, i + 1,
                    "cannot tell the format from " + in_quotes(line) +
                        ": expected CoNLL-U, word|TAG, a word and its tag in columns, or verses "
                        "such as 'Ge1:1 In the beginning ...' (--format names one)");
  }
  throw UserError(name + " holds no sentence");
}

ReadResult read_corpus(std::istream& in, const TextSource& text, const ReadOptions& options) {
  const std::vector<std::string> lines = read_lines(in, text);
  ReadOptions known = options;
  if (known.format == Format::kAuto) known.format = guess_format(lines, text.name());
  const Source source{lines, text, known};
  ReadResult result;
  result.format = known.format;
  switch (known.format) {
    case Format::kConllu:
      result.corpus = read_conllu(source);
      break;
    case Format::kPipe:
      result.corpus = read_pipe(source);
      break;
    case Format::kColumns:
      result.corpus = read_columns(source);
      break;
    case Format::kParallel:
      throw UserError("--format parallel reads two files, which " + text.name() + " is not");
    case Format::kBible:
    case Format::kText:
    case Format::kAuto:
      result.corpus = read_running_text(source);
      break;
  }
  if (result.corpus.empty()) throw UserError(text.name() + " holds no sentence");
  return result;
}

ReadResult read_corpus(const TextSource& text, const ReadOptions& options) {
  if (options.format == Format::kParallel) {
    ReadResult result{read_parallel(text, options), options.format};
    if (result.corpus.empty()) throw UserError(text.name() + " holds no sentence");
    return result;
  }
  InputFile file(text);
  return read_corpus(file.stream(), text, options);
}

std::size_t count_words(const Corpus& corpus) {
  return std::accumulate(
      corpus.begin(), corpus.end(), std::size_t{0},
      [](std::size_t sum, const Sentence& sentence) { return sum + sentence.words.size(); });
}

}  // namespace tagger
