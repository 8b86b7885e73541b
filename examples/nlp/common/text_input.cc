#include "examples/nlp/common/text_input.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <system_error>
#include <utility>

#include "dynet-like/base/printable.h"
#include "dynet-like/base/utf8.h"
#include "examples/nlp/common/names.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/common/progress.h"

namespace nlp {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

const Names<Encoding> kEncodings = {{Encoding::kUtf8, "utf8"}, {Encoding::kLatin1, "latin1"}};

std::string system_reason() {
  return errno != 0 ? std::generic_category().message(errno) : std::string("unknown reason");
}

/// Checks an apparent end of input. Throws UserError after a read error, which the stream of
/// standard input does not report.
void require_end(const std::istream& in, const std::string& name) {
  const bool standard = &in == &std::cin;
  if (in.bad() || (standard && std::ferror(stdin) != 0))
    throw UserError("cannot read " + (standard ? "standard input" : name) + ": " + system_reason());
}

/// Next byte, or std::char_traits<char>::eof() with the stream's eofbit set.
int next_byte(std::istream& in) {
  int byte = std::char_traits<char>::eof();
  try {
    byte = in.rdbuf()->sbumpc();
    if (byte == std::char_traits<char>::eof()) in.setstate(std::ios::eofbit);
  } catch (const std::ios::failure&) {  // read error of a std::filebuf
    in.setstate(std::ios::badbit);
  }
  return byte;
}

/// Position of the first byte that is not UTF-8; npos if there is none.
std::size_t find_bad_byte(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = dynet::first_utf8_character(text.substr(at)).bytes;
    if (bytes == 0) return at;
    at += bytes;
  }
  return std::string_view::npos;
}

/// The stream of a source; null for standard input.
std::unique_ptr<std::istream> open(const TextSource& source) {
  if (source.content) return std::make_unique<std::istringstream>(*source.content);
  if (source.path == "-") return nullptr;
  errno = 0;
  auto file = std::make_unique<std::ifstream>(source.path, std::ios::binary);
  if (!*file) throw UserError("cannot open " + source.name() + ": " + system_reason());
  file->peek();  // opening a directory succeeds, reading it fails
  if (file->bad()) {
    throw UserError("cannot read " + source.name() + ": " +
                    (errno == EISDIR ? "is it a directory?" : system_reason()));
  }
  file->clear();
  return file;
}

std::string from_latin1(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      result += c;
    } else {
      result += static_cast<char>(0xC0 | byte >> 6);
      result += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return result;
}

}  // namespace

void add_encoding(CLI::App& app, TextOptions& options) {
  app.add_option_function<std::string>(
         "--encoding",
         [&options](const std::string& name) {
           options.encoding = value_of(kEncodings, name, "encoding");
         },
         "Of the texts that are read: utf8 or latin1")
      ->check(named(kEncodings))
      ->default_str("utf8");
}

void add_skip_bad(CLI::App& app, TextOptions& options, const std::string& samples) {
  options.has_skip_bad = true;
  app.add_option("--skip-bad", options.skip_bad,
                 "Leave out so many " + samples + " of a file that are wrong, and say which")
      ->transform(InRange(0, 1e9));
}

LineReader::LineReader(std::istream& in, const TextSource& source)
    : in_(in), name_(source.name()), encoding_(source.options.encoding) {}

bool LineReader::next(std::string& line) {
  errno = 0;
  if (!get(line)) {
    require_end(in_, name_);
    return false;
  }
  check(line);
  return true;
}

void LineReader::refuse(const std::string& what) const { throw LineError(name_, number_, what); }

/// Like std::getline, but with limited memory.
bool LineReader::get(std::string& line) {
  line.clear();
  line_end_.clear();
  if (!in_.good()) return false;
  ++number_;
  constexpr int kEnd = std::char_traits<char>::eof();
  for (int c; (c = next_byte(in_)) != '\n';) {
    if (c == kEnd) {
      if (line.empty()) --number_;
      return !line.empty();
    }
    if (line.size() == kLongestLine) {
      refuse("a line of more than " + std::to_string(kLongestLine >> 20) +
             " MiB: expected a sentence (is this a text?)");
    }
    line += static_cast<char>(c);
  }
  line_end_ = "\n";
  return true;
}

void LineReader::check(std::string& line) {
  if (!line.empty() && line.back() == '\r') {
    line.pop_back();
    line_end_.insert(0, 1, '\r');
  }
  if (line.find('\0') != std::string::npos)
    refuse("expected text, found a zero byte (a binary file?)");
  if (encoding_ == Encoding::kLatin1) {
    line = from_latin1(line);
    return;
  }
  if (number_ == 1 && line.rfind(kByteOrderMark, 0) == 0) line.erase(0, kByteOrderMark.size());
  const std::size_t bad = find_bad_byte(line);
  if (bad == std::string::npos) return;
  refuse("expected UTF-8, found the byte " +
         dynet::printable(std::string_view(line).substr(bad, 1)) + " (column " +
         std::to_string(bad + 1) + "): --encoding latin1 reads ISO 8859-1");
}

InputFile::InputFile(const TextSource& source, std::function<void()> before_waiting)
    : name_(source.name()),
      standard_(!source.content && source.path == "-"),
      before_waiting_(std::move(before_waiting)),
      own_(open(source)),
      reader_(stream(), source) {}

std::istream& InputFile::stream() {
  if (standard_) return std::cin;
  return *own_;
}

bool InputFile::has_more() {
  if (stream().rdbuf()->in_avail() > 0) return true;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return standard_ && poll(&input, 1, 0) > 0;
}

bool InputFile::next(std::string& line) {
  if (before_waiting_ && !has_more()) {
    before_waiting_();
    std::cout.flush();
  }
  if (standard_) std::cout.flush();
  return reader_.next(line);
}

std::vector<std::string> read_lines(std::istream& in, const TextSource& source) {
  LineReader reader(in, source);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> read_lines(const TextSource& source) {
  InputFile file(source);
  return read_lines(file.stream(), source);
}

bool is_blank(std::string_view line) { return std::all_of(line.begin(), line.end(), is_space); }

std::vector<LineRange> blocks_of(const std::vector<std::string>& lines) {
  std::vector<LineRange> blocks;
  bool open = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool blank = is_blank(lines[i]);
    if (!blank && !open) blocks.push_back({i, i});
    if (!blank) blocks.back().end = i + 1;
    open = !blank;
  }
  return blocks;
}

void require_readable(std::size_t words, std::size_t line, const std::string& name) {
  if (words <= kMostWords) return;
  throw LineError(name, line,
                  "a sentence of " + with_commas(words) + " words begins here: expected " +
                      with_commas(kMostWords) + " at most (is it several?)");
}

void warn(const std::string& text) {
  std::cerr << "warning: " << dynet::printable(text) << std::endl;
}

void warn_if_single(const std::string& what, const std::vector<std::string>& names,
                    const std::string& source) {
  if (names.size() == 1)
    warn(source + " has no " + what + " but " + in_quotes(names[0]) +
         ": there is nothing to tell apart");
}

SampleReader::SampleReader(const TextSource& source, const std::string& sample)
    : name_(source.name()),
      sample_(sample),
      has_option_(source.options.has_skip_bad),
      most_(source.options.skip_bad) {}

SampleReader::~SampleReader() {
  if (left_out_ > kMostShown) {
    warn(name_ + ": " + with_commas(left_out_) + " times a " + sample_ +
         " was left out; the first " + std::to_string(kMostShown) + " are shown");
  }
}

void SampleReader::refuse(const LineError& error) const {
  if (!has_option_) throw LineError(error);
  throw UserError(std::string(error.what()) + "; --skip-bad N leaves out N such " + sample_ + "s");
}

void SampleReader::leave_out(const LineError& error) {
  if (++left_out_ <= kMostShown)
    warn(std::string(error.what()) + "; the " + sample_ + " is left out");
}

void UnknownNames::add(const std::string& name, std::size_t line) {
  if (++count_ > 1) return;
  first_ = name;
  line_ = line;
}

void UnknownNames::report(const std::string& consequence) const {
  if (count_ == 0) return;
  warn(source_ + ":" + std::to_string(line_) + ": the model does not know the " + what_ + " " +
       in_quotes(first_) + (count_ > 1 ? ", one of " + with_commas(count_) + " such cases" : "") +
       ": " + consequence);
}

}  // namespace nlp
