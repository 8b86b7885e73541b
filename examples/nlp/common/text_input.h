#pragma once

#include <cstddef>
#include <fstream>
#include <functional>
#include <istream>
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

/// How texts are read, whatever their format.
struct TextOptions {
  Encoding encoding = Encoding::kUtf8;
  std::size_t skip_bad = 0;   ///< samples that may be left out because they are wrong
  bool has_skip_bad = false;  ///< whether the user could allow more
};

/// A text to read: a file, "-" for standard input.
struct TextSource {
  TextSource(std::string file, const TextOptions& how = {})  // NOLINT: any path is a source
      : path(std::move(file)), options(how) {}
  TextSource(const char* file) : path(file) {}  // NOLINT

  std::string path;
  TextOptions options;

  /// Name of the text in messages.
  std::string name() const { return path == "-" ? "standard input" : path; }
};

/// --encoding, and --skip-bad where what is read are `samples` that a training run can do without.
void add_encoding(CLI::App& app, TextOptions& options);
void add_skip_bad(CLI::App& app, TextOptions& options, const std::string& samples);

/// Reads a text line by line. Lines come without their ends, LF or CRLF, and the first one without
/// a byte order mark; all are UTF-8.
class LineReader {
 public:
  LineReader(std::istream& in, const TextSource& source);
  /// False at the end. Throws LineError for a zero byte, for bytes that are no UTF-8 and for a line
  /// longer than kLongestLine, UserError if reading fails.
  bool next(std::string& line);
  /// Number of the last line read, from 1.
  std::size_t number() const { return number_; }

  /// Maximum size of a line in bytes.
  static constexpr std::size_t kLongestLine = std::size_t{64} << 20;

 private:
  [[noreturn]] void refuse(const std::string& what) const;
  bool get(std::string& line);
  void check(std::string& line) const;

  std::istream& in_;
  const std::string name_;
  const Encoding encoding_;
  std::size_t number_ = 0;
};

/// An open text. Throws UserError with the reason if it cannot be opened or is a directory.
class InputFile {
 public:
  /// `before_waiting` is called whenever reading on would wait for input.
  explicit InputFile(const TextSource& source, std::function<void()> before_waiting = {});
  /// See LineReader. What is written to standard output is shown before somebody types a line.
  bool next(std::string& line);
  std::size_t number() const { return reader_.number(); }
  const std::string& name() const { return name_; }
  std::istream& stream();

 private:
  bool has_more();

  std::string name_;
  bool standard_;
  std::function<void()> before_waiting_;
  std::ifstream file_;
  LineReader reader_;
};

/// All lines, see LineReader.
std::vector<std::string> read_lines(const TextSource& source);
/// The same from a stream.
std::vector<std::string> read_lines(std::istream& in, const TextSource& source);

bool is_blank(std::string_view line);

/// The lines [begin, end) of a text.
struct LineRange {
  std::size_t begin, end;
};
/// The runs of lines between blank ones.
std::vector<LineRange> blocks_of(const std::vector<std::string>& lines);

/// A sentence that is longer is none: its graph would take more memory than there is.
inline constexpr std::size_t kMostWords = 10000;
/// Throws LineError if there are more words in the sentence that begins there.
void require_readable(std::size_t words, std::size_t line, const std::string& name);

/// Shows "warning: ..." on standard error.
void warn(const std::string& text);

/// Warns if there is but one of what is to be told apart: `what` is singular, "tag".
void warn_if_single(const std::string& what, const std::vector<std::string>& names,
                    const std::string& source);

/// Reads the samples of a text and leaves out wrong ones, as many as its options allow. What was
/// left out is said in warnings.
class SampleReader {
 public:
  SampleReader(const TextSource& source, const std::string& sample);
  SampleReader(const SampleReader&) = delete;
  SampleReader& operator=(const SampleReader&) = delete;
  ~SampleReader();

  /// Calls `read`, which reads a sample. A LineError that it throws is thrown, with what the user
  /// can do about it, if that is one more than is allowed.
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

/// Names that a model does not know, counted for one warning: "train.txt:7: the model does not know
/// the tag '_', and neither 12 more in this file, of 3 kinds".
class UnknownNames {
 public:
  /// `what` is singular: "tag".
  UnknownNames(std::string what, std::string source)
      : what_(std::move(what)), source_(std::move(source)) {}
  void add(const std::string& name, std::size_t line);
  std::size_t count() const { return count_; }
  /// Shows the warning if there is anything to be said.
  void report(const std::string& consequence) const;

 private:
  const std::string what_, source_;
  std::string first_;
  std::size_t line_ = 0;
  std::size_t count_ = 0;
};

}  // namespace nlp
