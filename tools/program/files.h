#pragma once

#include <optional>
#include <string>
#include <vector>

namespace program {

/// A file and the option that names it. "-" is standard input of what is read, standard output of
/// what is written; an empty path is no file.
struct NamedFile {
  std::string option;  ///< empty if no option names it
  std::string path;
};

/// Throws UsageError if the file to be written is one of those that are read, whatever names,
/// links or descriptors lead to it. Only regular files are looked at: terminals, pipes and devices
/// may be both.
void require_different(const NamedFile& written, const std::vector<NamedFile>& read);

/// Throws dynet::FileError if no file can have this name, which a file that is written beside it
/// would find out when it is whole: one that is too long, or links that lead nowhere.
void require_possible(const std::string& path);

/// The descriptor of this process that the path stands for, as /dev/stdout and /dev/fd/3 do and
/// links to these.
std::optional<int> descriptor_of(const std::string& path);

/// Whether the path leads to something that is neither a regular file nor a directory and is
/// written where it is: a pipe, a device.
bool is_device(const std::string& path);

}  // namespace program
