#include "tools/program/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "dynet-like/base/errors.h"
#include "tools/program/errors.h"

namespace program {
namespace {

namespace fs = std::filesystem;

enum class Use { kRead, kWritten };

/// False unless the file exists and is regular.
bool find(const NamedFile& file, Use use, struct stat& info) {
  if (file.path.empty()) return false;
  const int found = file.path != "-"
                        ? ::stat(file.path.c_str(), &info)
                        : ::fstat(use == Use::kRead ? STDIN_FILENO : STDOUT_FILENO, &info);
  return found == 0 && S_ISREG(info.st_mode);
}

std::string text_of(const NamedFile& file, Use use) {
  if (file.path == "-") return use == Use::kRead ? "standard input" : "standard output";
  return file.option.empty() ? file.path : file.option + " " + file.path;
}

/// The number in a name that has digits only.
std::optional<int> number(const std::string& name) {
  constexpr std::size_t kMostDigits = 9;
  if (name.empty() || name.size() > kMostDigits) return {};
  if (name.find_first_not_of("0123456789") != name.npos) return {};
  return std::stoi(name);
}

}  // namespace

void require_different(const NamedFile& written, const std::vector<NamedFile>& read) {
  struct stat output = {}, input = {};
  if (!find(written, Use::kWritten, output)) return;
  for (const NamedFile& file : read) {
    if (!find(file, Use::kRead, input)) continue;
    if (input.st_dev != output.st_dev || input.st_ino != output.st_ino) continue;
    throw UsageError(text_of(written, Use::kWritten) + " and " + text_of(file, Use::kRead) +
                     " are the same file, which would be lost");
  }
}

void require_possible(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) == 0 || (errno != ENAMETOOLONG && errno != ELOOP)) return;
  throw dynet::FileError("cannot save " + path + ": " + std::generic_category().message(errno));
}

std::optional<int> descriptor_of(const std::string& path) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  std::vector<fs::path> tables;
  for (const char* name : {"/dev/fd", "/proc/self/fd"}) {
    const fs::path table = fs::canonical(name, error);
    if (!error) tables.push_back(table);
  }
  // fs::canonical alone would resolve to the file behind the descriptor.
  fs::path at = path;
  for (int links = 0; links < kMostLinks; ++links) {
    const fs::path folder = fs::canonical(at.has_parent_path() ? at.parent_path() : ".", error);
    if (error) return {};
    if (std::find(tables.begin(), tables.end(), folder) != tables.end())
      return number(at.filename().string());
    at = fs::read_symlink(folder / at.filename(), error);
    if (error) return {};
    if (at.is_relative()) at = folder / at;
  }
  return {};
}

bool is_device(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

}  // namespace program
