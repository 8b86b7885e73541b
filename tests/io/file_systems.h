#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "dynet-like/io/file_system.h"

namespace dynet {

/// One regular file that is not on the disk, whatever the name.
class OneFile : public FileSystem {
 public:
  virtual std::uint64_t length() const = 0;

  int open(const std::string&, int, unsigned) const override { return 1000; }
  int close(int) const override { return 0; }
  int fstat(int, struct stat& s) const override {
    s.st_mode = S_IFREG | 0600;
    s.st_size = static_cast<off_t>(length());
    return 0;
  }
};

/// One file that is in memory.
class MemoryFile : public OneFile {
 public:
  std::string bytes;

  std::uint64_t length() const override { return bytes.size(); }
  std::int64_t pread(int, char* to, std::size_t n, std::uint64_t at) const override {
    if (at >= bytes.size()) return 0;
    n = std::min(n, bytes.size() - at);
    std::memcpy(to, bytes.data() + at, n);
    return static_cast<std::int64_t>(n);
  }
};

/// The operating system's files; what makes a save durable is noted with the files' names, in
/// order.
class NotedFiles : public FileSystem {
 public:
  mutable std::vector<std::string> notes;

  int open(const std::string& path, int flags, unsigned mode) const override {
    const int fd = FileSystem::open(path, flags, mode);
    if (fd >= 0) paths_[fd] = path;
    return fd;
  }
  std::int64_t write(int fd, const char* from, std::size_t n) const override {
    notes.push_back("write " + paths_[fd]);
    return FileSystem::write(fd, from, n);
  }
  int fsync(int fd) const override {
    notes.push_back("fsync " + paths_[fd]);
    return FileSystem::fsync(fd);
  }
  int rename(const std::string& from, const std::string& to) const override {
    notes.push_back("rename " + from + " " + to);
    return FileSystem::rename(from, to);
  }

 private:
  mutable std::map<int, std::string> paths_;
};

/// Thrown where a process ends in the middle.
struct Stopped {};

/// The operating system's files until a call fails, or until the process ends in the middle. Calls
/// and bytes that change something are counted. Like a disk that loses power, it forgets what was
/// not flushed when it stops.
class FailingFiles : public FileSystem {
 public:
  int fail_call = -1;    ///< the number of the call that fails, counted from 0
  int error = EIO;       ///< with which it fails
  bool forever = false;  ///< so do all after it
  int stop_call = -1;    ///< the number of the call that is never made
  long stop_byte = -1;   ///< the number of bytes written before the end
  int short_call = -1;   ///< the number of the call that writes half of what it could
  mutable int calls = 0;
  mutable long bytes = 0;
  mutable std::string last;  ///< the name of the call that failed or stopped

  int open(const std::string& path, int flags, unsigned mode) const override {
    if (const int r = step("open")) return r;
    const int fd = FileSystem::open(path, flags, mode);
    if (fd >= 0 && (flags & O_CREAT)) unflushed_[fd] = path;
    return fd;
  }
  int close(int fd) const override {
    if (stopped_) return FileSystem::close(fd);  // the system does
    const int r = step("close");
    const int closed = FileSystem::close(fd);
    return r ? r : closed;
  }
  std::int64_t write(int fd, const char* from, std::size_t n) const override {
    if (const int r = step("write")) return r;
    if (calls - 1 == short_call && n > 1) n /= 2;
    const bool ends = stop_byte >= 0 && bytes + static_cast<long>(n) > stop_byte;
    if (ends) n = static_cast<std::size_t>(stop_byte - bytes);
    const std::int64_t written = n > 0 ? FileSystem::write(fd, from, n) : 0;
    bytes += written;
    if (ends) stop("write");
    return written;
  }
  int fsync(int fd) const override {
    if (const int r = step("fsync")) return r;
    unflushed_.erase(fd);
    return 0;  // the disk has no part in these tests
  }
  int flock(int fd) const override {
    const int r = step("flock");
    return r ? r : FileSystem::flock(fd);
  }
  int fchmod(int fd, unsigned mode) const override {
    const int r = step("fchmod");
    return r ? r : FileSystem::fchmod(fd, mode);
  }
  int rename(const std::string& from, const std::string& to) const override {
    if (const int r = step("rename")) return r;
    for (auto& [fd, path] : unflushed_)
      if (path == from) path = to;
    return FileSystem::rename(from, to);
  }
  int unlink(const std::string& path) const override {
    const int r = step("unlink");
    return r ? r : FileSystem::unlink(path);
  }

 private:
  [[noreturn]] void stop(const char* name) const {
    if (!stopped_)
      for (const auto& [fd, path] : unflushed_) static_cast<void>(::truncate(path.c_str(), 0) == 0);
    stopped_ = true;
    last = name;
    throw Stopped();
  }
  int step(const char* name) const {
    if (stopped_ || calls == stop_call) stop(name);
    const bool fails = fail_call >= 0 && (forever ? calls >= fail_call : calls == fail_call);
    ++calls;
    if (fails) last = name;
    return fails ? -error : 0;
  }

  mutable bool stopped_ = false;
  mutable std::map<int, std::string> unflushed_;
};

/// Makes writing fail after so many bytes, as a full disk does.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    rlimit now = old_;
    now.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &now);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_;
  void (*handler_)(int);
};

}  // namespace dynet
