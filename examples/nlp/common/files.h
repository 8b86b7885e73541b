#pragma once

#include <cstddef>
#include <fstream>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/program/files.h"

namespace dynet {
class NewFile;
}
namespace program {
class DescriptorBuffer;
}

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

/// A file to write lines to, "-" for standard output.
///
/// It takes the place of an old file as a whole, once `finish` is called, and not at all if it
/// never is; see dynet::NewFile. What is no file, a pipe, a device or a descriptor as /dev/stdout,
/// gets the lines as they come. Throws dynet::FileError or program::OutputError with the reason.
class OutputFile {
 public:
  /// `read` are all files that the program reads: throws program::UsageError if this is one of
  /// them.
  OutputFile(const program::NamedFile& file, const std::vector<program::NamedFile>& read);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(const std::string& line);
  /// Call it last: some errors show only here.
  void finish();

 private:
  // One of these, or none for standard output.
  std::unique_ptr<dynet::NewFile> file_;
  std::unique_ptr<program::DescriptorBuffer> direct_;
};

/// All lines of a text, without a byte order mark and the ends of the lines, be they LF or CRLF.
/// Throws LineError for a zero byte, UserError if reading fails.
std::vector<std::string> read_lines(std::istream& in, const std::string& name);
/// The same from a file.
std::vector<std::string> read_lines(const std::string& path);

bool is_blank(std::string_view line);

/// The length of a verse's reference such as `1Sm17:4 ` with the space after it, 0 if there is
/// none: how the lines of `bible -f Gen1:1-Rev22:21`, Debian package bible-kjv, begin.
std::size_t verse_reference_length(std::string_view line);

}  // namespace nlp
