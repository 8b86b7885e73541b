#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct stat;

namespace dynet {

/// What reading and writing files asks of the operating system. A program that puts its own in
/// place of it can keep files elsewhere, or make calls fail to see what happens. Each function is
/// the POSIX call of that name, repeated where a signal interrupts it, and returns what that
/// returns, or minus errno.
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
  /// Where a symbolic link leads, in `to`; -EINVAL for what is no link.
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
