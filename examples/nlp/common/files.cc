#include "examples/nlp/common/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <optional>
#include <system_error>
#include <utility>

#include "dynet-like/io/files.h"
#include "examples/nlp/common/text.h"
#include "tools/program/descriptor.h"
#include "tools/program/new_files.h"

namespace nlp {
namespace {

std::string system_reason() {
  return errno != 0 ? std::generic_category().message(errno) : std::string("unknown reason");
}

/// To be called at what seems to be the end. Throws UserError if reading broke off there, of which
/// the stream of standard input says nothing.
void require_end(const std::istream& in, const std::string& name) {
  const bool standard = &in == &std::cin;
  if (in.bad() || (standard && std::ferror(stdin) != 0))
    throw UserError("cannot read " + (standard ? "standard input" : name) + ": " + system_reason());
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
  if (file_.bad()) {
    throw UserError("cannot read " + path + ": " +
                    (errno == EISDIR ? "is it a directory?" : system_reason()));
  }
  file_.clear();
}

std::istream& InputFile::stream() { return standard_ ? std::cin : file_; }

bool InputFile::next(std::string& line) {
  // Who types lines wants to see what becomes of each before the next one.
  if (standard_) std::cout.flush();
  errno = 0;
  if (std::getline(stream(), line)) return true;
  require_end(stream(), name_);
  return false;
}

OutputFile::OutputFile(const program::NamedFile& file,
                       const std::vector<program::NamedFile>& read) {
  program::require_different(file, read);
  const std::string& path = file.path;
  const std::optional<int> descriptor = program::descriptor_of(path);
  if (path == "-" || descriptor == STDOUT_FILENO) return;
  if (!descriptor && !program::is_device(path)) {
    program::require_possible(path);
    file_ = std::make_unique<dynet::NewFile>(path, &program::files());
    return;
  }
  const int fd = descriptor ? program::DescriptorBuffer::copy_of(*descriptor, path)
                            : ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) throw program::OutputError(path, errno);
  direct_ = std::make_unique<program::DescriptorBuffer>(fd, path);
}

OutputFile::~OutputFile() = default;

void OutputFile::write(const std::string& line) {
  if (file_) {
    file_->write(line + '\n');
  } else if (direct_) {
    direct_->sputn(line.data(), static_cast<std::streamsize>(line.size()));
    direct_->sputc('\n');
  } else {
    std::cout << line << '\n';
  }
}

void OutputFile::finish() {
  if (file_) {
    file_->commit();
  } else if (direct_) {
    direct_->finish();
  } else {
    std::cout.flush();
  }
}

std::vector<std::string> read_lines(std::istream& in, const std::string& name) {
  std::vector<std::string> lines;
  std::string line;
  errno = 0;
  while (std::getline(in, line)) {
    if (lines.empty() && line.rfind("\xEF\xBB\xBF", 0) == 0) line.erase(0, 3);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.find('\0') != std::string::npos) {
      throw LineError(name, lines.size() + 1, "expected text, found a zero byte (a binary file?)");
    }
    lines.push_back(std::move(line));
  }
  require_end(in, name);
  return lines;
}

std::vector<std::string> read_lines(const std::string& path) {
  InputFile file(path);
  return read_lines(file.stream(), path);
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
