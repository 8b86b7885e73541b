#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct stat;

namespace dynet {

/// Calls of the operating system that read and write files. A program that replaces this class can
/// keep files elsewhere, or make calls fail to test the effect. Each function is the POSIX call of
/// its name, repeated where a signal interrupts it, and returns the result of that call, or minus
/// errno.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual int open(const std::string& path, int flags, unsigned mode) const;
  virtual int close(int fd) const;
  /// May read less than asked for; 0 at the end of the file.
  virtual std::int64_t pread(int fd, char* to, std::size_t n, std::uint64_t at) const;
  /// May write less than asked for.
  virtual std::int64_t write(int fd, const char* from, std::size_t n) const;
  virtual int fsync(int fd) const;
  /// An exclusive lock that ends with the process, without waiting for it.
  virtual int flock(int fd) const;
  virtual int fchmod(int fd, unsigned mode) const;
  virtual int fstat(int fd, struct stat& s) const;
  virtual int stat(const std::string& path, struct stat& s) const;
  virtual int access(const std::string& path, int mode) const;
  /// Target of a symbolic link, in `to`; -EINVAL for a path that is no link.
  virtual int readlink(const std::string& path, std::string& to) const;
  virtual int rename(const std::string& from, const std::string& to) const;
  virtual int unlink(const std::string& path) const;
  /// The first `n` bytes of a file where the system keeps them, to be read only, or null if that is
  /// not possible.
  virtual const char* map(int fd, std::size_t n) const;
  virtual void unmap(const char* bytes, std::size_t n) const;
  /// The names in a folder, in any order.
  virtual int list(const std::string& folder, std::vector<std::string>& names) const;
};

}  // namespace dynet
