#pragma once

#include <cstddef>
#include <functional>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "examples/nlp/common/text.h"

namespace CLI {
class App;
}

namespace nlp {

/// Character encoding of a text.
enum class Encoding {
  kUtf8,
  kLatin1  ///< ISO 8859-1
};

/// Options for reading texts of any format.
struct TextOptions {
  Encoding encoding = Encoding::kUtf8;
  std::size_t skip_bad = 0;   ///< maximum number of malformed samples to skip
  bool has_skip_bad = false;  ///< true: the user can raise `skip_bad`
};

/// Text input: a file, "-" for standard input, or a text in memory.
struct TextSource {
  TextSource(std::string file, const TextOptions& how = {})  // NOLINT: any path is a source
      : path(std::move(file)), options(how) {}
  TextSource(const char* file) : path(file) {}  // NOLINT
  /// A text with a name for messages.
  static TextSource in_memory(std::string text, std::string name) {
    TextSource source(std::move(name));
    source.content = std::make_shared<const std::string>(std::move(text));
    return source;
  }

  std::string path;
  TextOptions options;
  std::shared_ptr<const std::string> content;  ///< of a text in memory

  /// Name of the text in messages.
  std::string name() const { return path == "-" ? "standard input" : path; }
};

/// Add --encoding, and --skip-bad, whose help names the `samples`.
void add_encoding(CLI::App& app, TextOptions& options);
void add_skip_bad(CLI::App& app, TextOptions& options, const std::string& samples);

/// Reads a text line by line, as UTF-8, without line ends (LF or CRLF) and byte order mark.
class LineReader {
 public:
  LineReader(std::istream& in, const TextSource& source);
  /// False at the end. Throws LineError for a zero byte, invalid UTF-8 and lines longer than
  /// kLongestLine, UserError for read errors.
  bool next(std::string& line);
  /// Number of the last line read, from 1.
  std::size_t number() const { return number_; }
  /// Its end in the text: LF, CRLF, or nothing at the end of the text.
  const std::string& line_end() const { return line_end_; }

  /// Maximum length of a line in bytes.
  static constexpr std::size_t kLongestLine = std::size_t{64} << 20;

 private:
  [[noreturn]] void refuse(const std::string& what) const;
  bool get(std::string& line);
  void check(std::string& line);

  std::istream& in_;
  const std::string name_;
  const Encoding encoding_;
  std::size_t number_ = 0;
  std::string line_end_;
};

/// An open text. Throws UserError with the reason if it cannot be opened or is a directory.
class InputFile {
 public:
  /// `before_waiting` is called before a read that would block.
  explicit InputFile(const TextSource& source, std::function<void()> before_waiting = {});
  /// See LineReader. Flushes standard output before waiting for a line from a terminal.
  bool next(std::string& line);
  std::size_t number() const { return reader_.number(); }
  const std::string& line_end() const { return reader_.line_end(); }
  const std::string& name() const { return name_; }
  std::istream& stream();

 private:
  bool has_more();

  std::string name_;
  bool standard_;
  std::function<void()> before_waiting_;
  std::unique_ptr<std::istream> own_;  ///< null: standard input
  LineReader reader_;
};

/// Reads all lines, see LineReader.
std::vector<std::string> read_lines(const TextSource& source);
/// Reads all lines of a stream.
std::vector<std::string> read_lines(std::istream& in, const TextSource& source);

bool is_blank(std::string_view line);

/// Lines [begin, end) of a text.
struct LineRange {
  std::size_t begin, end;
};
/// Runs of lines between blank lines.
std::vector<LineRange> blocks_of(const std::vector<std::string>& lines);

/// Maximum number of words of a sentence, to limit the memory of its graph.
inline constexpr std::size_t kMostWords = 10000;
/// Throws LineError if the sentence that starts at this line has more words.
void require_readable(std::size_t words, std::size_t line, const std::string& name);

/// Prints "warning: ..." on standard error.
void warn(const std::string& text);

/// Warns if there is only one name; `what` is singular: "tag".
void warn_if_single(const std::string& what, const std::vector<std::string>& names,
                    const std::string& source);

/// Reads the samples of a text and skips malformed ones, as many as the options allow, with
/// warnings.
class SampleReader {
 public:
  SampleReader(const TextSource& source, const std::string& sample);
  SampleReader(const SampleReader&) = delete;
  SampleReader& operator=(const SampleReader&) = delete;
  ~SampleReader();

  /// Calls `read`, which reads one sample. Rethrows its LineError, with advice for the user, if the
  /// limit of skipped samples is exceeded.
  template <typename Read>
  void read(Read read) {
    try {
      read();
    } catch (const LineError& error) {
      if (left_out_ == most_) refuse(error);
      leave_out(error);
    }
  }

 private:
  static constexpr std::size_t kMostShown = 10;

  [[noreturn]] void refuse(const LineError& error) const;
  void leave_out(const LineError& error);

  const std::string name_, sample_;
  const bool has_option_;
  const std::size_t most_;
  std::size_t left_out_ = 0;
};

/// Collects names unknown to a model for one warning: "train.txt:7: the model does not know the tag
/// '_', and neither 12 more in this file, of 3 kinds".
class UnknownNames {
 public:
  /// `what` is singular: "tag".
  UnknownNames(std::string what, std::string source)
      : what_(std::move(what)), source_(std::move(source)) {}
  void add(const std::string& name, std::size_t line);
  std::size_t count() const { return count_; }
  /// Prints the warning unless all names were known.
  void report(const std::string& consequence) const;

 private:
  const std::string what_, source_;
  std::string first_;
  std::size_t line_ = 0;
  std::size_t count_ = 0;
};

}  // namespace nlp
