#pragma once

#include <cstddef>
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

/// The name of a file or folder without the folders that lead there. Of a path that leads nowhere,
/// which may name several files with commas or colons between them, each is shortened.
std::string without_folders(const std::string& path);

/// The length of a verse's reference such as `1Sm17:4 ` with the space after it, 0 if there is
/// none: how the lines of `bible -f Gen1:1-Rev22:21`, Debian package bible-kjv, begin.
std::size_t verse_reference_length(std::string_view line);

}  // namespace nlp
