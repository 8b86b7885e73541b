#pragma once

#include <optional>
#include <string>
#include <vector>

namespace program {

/// A file and the option that names it. "-" is standard input or standard output; an empty path is
/// no file.
struct NamedFile {
  std::string option;  ///< empty if no option names it
  std::string path;
};

/// Throws UsageError if the file to write is among the files to read, under any name, link or
/// descriptor. Only regular files are compared: terminals, pipes and devices may be both.
void require_different(const NamedFile& written, const std::vector<NamedFile>& read);

/// Throws dynet::FileError for an impossible file name, such as one that is too long or a dangling
/// chain of links, which writing a temporary file next to it would detect too late.
void require_possible(const std::string& path);

/// Descriptor of this process named by the path, such as /dev/stdout, /dev/fd/3 and links to them.
std::optional<int> descriptor_of(const std::string& path);

/// True for existing paths that are neither regular files nor directories and are written in place:
/// pipes, devices.
bool is_device(const std::string& path);

}  // namespace program
