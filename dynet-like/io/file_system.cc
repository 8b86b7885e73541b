#include "dynet-like/io/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>
#include <string_view>

namespace dynet {
namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;

template <class Call>
auto repeat(Call call) {
  auto r = call();
  while (r < 0 && errno == EINTR) r = call();
  return r < 0 ? -errno : r;
}

}  // namespace

int FileSystem::open(const std::string& path, int flags, unsigned mode) const {
  return repeat([&] { return ::open(path.c_str(), flags | O_CLOEXEC, static_cast<mode_t>(mode)); });
}

int FileSystem::close(int fd) const {
  return ::close(fd) == 0 || errno == EINTR ? 0 : -errno;  // fd may be in use again
}

std::int64_t FileSystem::pread(int fd, char* to, std::size_t n, std::uint64_t at) const {
  return repeat([&] { return ::pread(fd, to, std::min(n, kMostAtOnce), static_cast<off_t>(at)); });
}

std::int64_t FileSystem::write(int fd, const char* from, std::size_t n) const {
  return repeat([&] { return ::write(fd, from, std::min(n, kMostAtOnce)); });
}

int FileSystem::fsync(int fd) const {
  return repeat([&] { return ::fsync(fd); });
}

int FileSystem::flock(int fd) const {
  return repeat([&] { return ::flock(fd, LOCK_EX | LOCK_NB); });
}

int FileSystem::fchmod(int fd, unsigned mode) const {
  return repeat([&] { return ::fchmod(fd, static_cast<mode_t>(mode)); });
}

int FileSystem::fstat(int fd, struct stat& s) const {
  return repeat([&] { return ::fstat(fd, &s); });
}

int FileSystem::stat(const std::string& path, struct stat& s) const {
  return repeat([&] { return ::stat(path.c_str(), &s); });
}

int FileSystem::access(const std::string& path, int mode) const {
  return repeat([&] { return ::access(path.c_str(), mode); });
}

int FileSystem::readlink(const std::string& path, std::string& to) const {
  to.assign(PATH_MAX, '\0');
  const auto n = repeat([&] { return ::readlink(path.c_str(), to.data(), to.size()); });
  to.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
  return n < 0 ? static_cast<int>(n) : 0;
}

int FileSystem::rename(const std::string& from, const std::string& to) const {
  return repeat([&] { return ::rename(from.c_str(), to.c_str()); });
}

int FileSystem::unlink(const std::string& path) const {
  return repeat([&] { return ::unlink(path.c_str()); });
}

char* FileSystem::map(int fd, std::size_t n) const {
  void* bytes = ::mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  return bytes == MAP_FAILED ? nullptr : static_cast<char*>(bytes);
}

void FileSystem::unmap(char* bytes, std::size_t n) const { ::munmap(bytes, n); }

int FileSystem::list(const std::string& folder, std::vector<std::string>& names) const {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), &::closedir);
  if (!open) return -errno;
  while (true) {
    errno = 0;
    const dirent* const entry = ::readdir(open.get());
    if (!entry) return -errno;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
}

}  // namespace dynet
