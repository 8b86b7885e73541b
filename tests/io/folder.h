#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/io/files.h"

namespace dynet {

/// A folder that is there as long as the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "dynet-test-XXXXXX").string();
    if (!::mkdtemp(path.data())) throw std::runtime_error("no temporary folder");
    path_ = path;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }
  std::string path(const std::string& name) const { return *this / name; }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  /// Names in the folder.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (auto& entry : std::filesystem::directory_iterator(path_))
      all.push_back(entry.path().filename().string());
    return all;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

/// Text of the exception of type E, or "" if there is none.
template <class E, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "";
}

/// Checks that a call throws an E whose text contains `text`.
#define CHECK_SAYS(E, call, text) \
  CHECK_THAT(::dynet::message_of<E>([&] { call; }), Catch::Contains(text))

/// Error text of writing a file, or "".
inline std::string failed_write(const std::string& path, const std::string& bytes = "new") {
  return message_of<FileError>([&] { write_file(path, bytes); });
}

}  // namespace dynet
