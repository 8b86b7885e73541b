#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "examples/nlp/common/html_page.h"
#include "tools/program/files.h"

namespace dynet {
class NewFile;
}
namespace program {
class DescriptorBuffer;
}

namespace nlp {

/// Text file for writing, "-" for standard output.
///
/// `finish` replaces an existing file atomically; without it the file is unchanged, see
/// dynet::NewFile. Pipes, devices and descriptors such as /dev/stdout get the lines immediately.
/// Throws dynet::FileError or program::OutputError with the reason.
class OutputFile {
 public:
  /// `read` lists all files that the program reads: throws program::UsageError if the output is one
  /// of them.
  OutputFile(const program::NamedFile& file, const std::vector<program::NamedFile>& read);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// Lines that follow are CoNLL-U and become a page, see HtmlPage.
  void show_as_page(const std::string& title);
  void write(const std::string& line);
  /// Must be called last; reports errors of the final write.
  void finish();

 private:
  void put(const std::string& line);

  std::unique_ptr<HtmlPage> page_;  // or null
  // One of these, or none for standard output.
  std::unique_ptr<dynet::NewFile> file_;
  std::unique_ptr<program::DescriptorBuffer> direct_;
};

/// Base name of a file or folder. If the path does not exist, it may be a list separated by commas
/// or colons, and each item is shortened.
std::string without_folders(const std::string& path);

/// Length of a verse reference such as `1Sm17:4 `, with the space after it; 0 if there is none.
/// Lines of `bible -f Gen1:1-Rev22:21` (Debian package bible-kjv) start with one.
std::size_t verse_reference_length(std::string_view line);

}  // namespace nlp
