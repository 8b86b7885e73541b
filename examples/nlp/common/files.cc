#include "examples/nlp/common/files.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <utility>

#include "examples/nlp/common/text.h"

namespace nlp {
namespace {

std::string system_reason() {
  return errno != 0 ? std::generic_category().message(errno) : std::string("unknown reason");
}

}  // namespace

InputFile::InputFile(const std::string& path) : name_(path), standard_(path == "-") {
  if (standard_) {
    name_ = "standard input";
    return;
  }
  errno = 0;
  file_.open(path, std::ios::binary);
  if (!file_) throw UserError("cannot open " + path + ": " + system_reason());
  file_.peek();  // opening a directory succeeds, reading from it does not
  if (file_.bad()) throw UserError("cannot read " + path + ": is it a directory?");
  file_.clear();
}

std::istream& InputFile::stream() { return standard_ ? std::cin : file_; }

bool InputFile::next(std::string& line) {
  if (std::getline(stream(), line)) return true;
  if (stream().bad()) throw UserError("cannot read " + name_);
  return false;
}

OutputFile::OutputFile(const std::string& path) : name_(path), standard_(path == "-") {
  if (standard_) {
    name_ = "standard output";
    return;
  }
  errno = 0;
  file_.open(path, std::ios::binary);
  if (!file_) throw UserError("cannot write " + path + ": " + system_reason());
}

std::ostream& OutputFile::stream() { return standard_ ? std::cout : file_; }

void OutputFile::write(const std::string& line) {
  stream() << line << '\n';
  if (!stream()) throw UserError("cannot write " + name_);
}

void OutputFile::finish() {
  stream().flush();
  if (!stream()) throw UserError("cannot write " + name_);
}

std::vector<std::string> read_lines(std::istream& in, const std::string& name) {
  std::vector<std::string> lines;
  std::string line;
  while (std::getline(in, line)) {
    if (lines.empty() && line.rfind("\xEF\xBB\xBF", 0) == 0) line.erase(0, 3);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.find('\0') != std::string::npos) {
      throw LineError(name, lines.size() + 1, "expected text, found a zero byte (a binary file?)");
    }
    lines.push_back(std::move(line));
  }
  if (in.bad()) throw UserError("cannot read " + name);
  return lines;
}

std::vector<std::string> read_lines(const std::string& path) {
  InputFile file(path);
  return read_lines(file.stream(), path);
}

void require_writable(const std::string& file) {
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown))
    throw UserError(file + " is a directory, not a model");
  const std::size_t slash = file.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : file.substr(0, slash + 1);
  if (access(folder.c_str(), W_OK) != 0) {
    throw UserError("cannot write " + file + ": " + std::generic_category().message(errno));
  }
}

bool is_blank(std::string_view line) { return std::all_of(line.begin(), line.end(), is_space); }

std::size_t verse_reference_length(std::string_view line) {
  std::size_t at = 0;
  const auto skip = [&](auto accepts) {
    const std::size_t begin = at;
    while (at < line.size() && accepts(line[at])) ++at;
    return at > begin;
  };
  if (at < line.size() && line[at] >= '1' && line[at] <= '3') ++at;
  if (!skip([](char c) { return is_lower(c) || is_upper(c); })) return 0;
  if (!skip(is_digit)) return 0;
  if (at >= line.size() || line[at] != ':') return 0;
  ++at;
  if (!skip(is_digit)) return 0;
  if (!skip([](char c) { return c == ' '; })) return 0;
  return at;
}

}  // namespace nlp
