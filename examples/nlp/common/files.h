#pragma once

#include <cstddef>
#include <fstream>
#include <istream>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace nlp {

/// A file to read from, "-" for standard input. Throws UserError with the reason if it cannot be
/// opened or is a directory.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  std::istream& stream();
  /// The next line, without its end; false at the end of the file. Throws UserError.
  bool next(std::string& line);

 private:
  std::string name_;
  bool standard_;
  std::ifstream file_;
};

/// A file to write lines to, "-" for standard output. What cannot be written throws UserError.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  void write(const std::string& line);
  /// Call it last: some errors show only here.
  void finish();

 private:
  std::string name_;
  bool standard_;
  std::ofstream file_;
  std::ostream& stream();
};

/// All lines of a text, without a byte order mark and the ends of the lines, be they LF or CRLF.
/// Throws LineError for a zero byte, UserError if reading fails.
std::vector<std::string> read_lines(std::istream& in, const std::string& name);
/// The same from a file.
std::vector<std::string> read_lines(const std::string& path);

/// Throws UserError if the file cannot be written where it is wanted: better now than after hours.
void require_writable(const std::string& file);

bool is_blank(std::string_view line);

/// The length of a verse's reference such as `1Sm17:4 ` with the space after it, 0 if there is
/// none: how the lines of `bible -f Gen1:1-Rev22:21`, Debian package bible-kjv, begin.
std::size_t verse_reference_length(std::string_view line);

}  // namespace nlp
