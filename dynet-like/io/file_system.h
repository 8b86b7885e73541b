#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct stat;

namespace dynet {

/// System calls for files. Derived classes can store files elsewhere, or make calls fail in tests.
/// Each function is the POSIX call of its name, repeated after EINTR; it returns the result of the
/// call, or minus errno.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual int open(const std::string& path, int flags, unsigned mode) const;
  virtual int close(int fd) const;
  /// May read fewer bytes than requested; 0 at the end of the file.
  virtual std::int64_t pread(int fd, char* to, std::size_t n, std::uint64_t at) const;
  /// May write fewer bytes than requested.
  virtual std::int64_t write(int fd, const char* from, std::size_t n) const;
  virtual int fsync(int fd) const;
  /// Non-blocking exclusive lock; it ends with the process.
  virtual int flock(int fd) const;
  virtual int fchmod(int fd, unsigned mode) const;
  virtual int fstat(int fd, struct stat& s) const;
  virtual int stat(const std::string& path, struct stat& s) const;
  virtual int access(const std::string& path, int mode) const;
  /// Target of a symbolic link, in `to`; -EINVAL for a path that is not a link.
  virtual int readlink(const std::string& path, std::string& to) const;
  virtual int rename(const std::string& from, const std::string& to) const;
  virtual int unlink(const std::string& path) const;
  /// Memory mapping of the first `n` bytes of a file; null if mapping is not possible. Bytes that
  /// are written through it change in this process alone.
  virtual char* map(int fd, std::size_t n) const;
  virtual void unmap(char* bytes, std::size_t n) const;
  /// Names of the files in a folder, in any order.
  virtual int list(const std::string& folder, std::vector<std::string>& names) const;
};

}  // namespace dynet
