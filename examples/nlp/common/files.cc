#include "examples/nlp/common/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iostream>
#include <optional>
#include <system_error>
#include <utility>

#include "dynet-like/io/files.h"
#include "examples/nlp/common/text.h"
#include "tools/program/descriptor.h"
#include "tools/program/new_files.h"

namespace nlp {
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

void OutputFile::show_as_page(const std::string& title) {
  page_ = std::make_unique<HtmlPage>(title);
  put(page_->begin());
}

void OutputFile::write(const std::string& line) {
  if (!page_) return put(line);
  if (const std::string shown = page_->add(line); !shown.empty()) put(shown);
}

void OutputFile::put(const std::string& line) {
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
  if (page_) put(page_->end());
  if (file_) {
    file_->commit();
  } else if (direct_) {
    direct_->finish();
  } else {
    std::cout.flush();
  }
}

std::string without_folders(const std::string& path) {
  std::error_code unknown;
  const bool one = std::filesystem::exists(path, unknown);
  const std::size_t end = one ? path.npos : path.find_first_of(",:");
  if (end != path.npos)
    return without_folders(path.substr(0, end)) + path[end] + without_folders(path.substr(end + 1));
  const std::size_t last = path.find_last_not_of('/'), slash = path.rfind('/', last);
  return path.substr(slash + 1, last - slash);
}

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
