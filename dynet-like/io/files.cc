#include "dynet-like/io/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/printable.h"
#include "dynet-like/base/random.h"
#include "dynet-like/base/thread_number.h"
#include "dynet-like/io/checksum.h"

namespace dynet {
namespace {

constexpr std::string_view kMark = ".tmp-";
constexpr std::size_t kDigits = 16, kSmall = std::size_t{1} << 16;
constexpr std::size_t kLongName = 100;  // a longer name plus the mark may exceed the system's limit
constexpr int kMostLinks = 40;          // the limit of Linux

std::string reason(std::int64_t result) {
  return std::generic_category().message(static_cast<int>(-result));
}

std::string digits_of(std::uint64_t x) {
  std::string s;
  for (std::size_t i = 0; i < kDigits; ++i) s += "0123456789abcdef"[(x >> (4 * i)) & 15];
  return s;
}

// The folder with its final slash; empty for a name without a folder.
std::string folder_part(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

bool is_temporary_of(std::string_view name, std::string_view stem) {
  if (name.size() != stem.size() + kMark.size() + kDigits || !name.starts_with(stem)) return false;
  name.remove_prefix(stem.size());
  return name.starts_with(kMark) &&
         name.find_first_not_of("0123456789abcdef", kMark.size()) == name.npos;
}

std::uint64_t unlikely_number() {
  const auto clock = std::chrono::steady_clock::now().time_since_epoch().count();
  return mix_bits(static_cast<std::uint64_t>(clock)) ^
         mix_bits(static_cast<std::uint64_t>(::getpid()) << 32 ^ this_thread_number());
}

}  // namespace

NewFile::NewFile(const std::string& path, const FileSystem* files)
    : files_(files ? *files : system_), path_(path), target_(path) {
  if (path.empty()) fail("the name is empty");
  struct stat old = {};
  const int found_nothing = files_.stat(path_, old);
  const bool exists = found_nothing >= 0;
  if (found_nothing == -ENAMETOOLONG) fail(reason(found_nothing));
  if (exists && !S_ISREG(old.st_mode)) fail("it is not a regular file");
  follow_links();
  if (exists && target_ != path_ && !leads_to_target())
    fail("the file that its link leads to has no name");
  if (exists)
    if (const int r = files_.access(target_, W_OK); r < 0)
      fail("it may not be written: " + reason(r));
  folder_ = folder_part(target_);
  const std::string name = target_.substr(folder_.size());
  stem_ = name.size() <= kLongName ? name : digits_of(checksum(name));
  if (folder_.empty()) folder_ = "./";
  try {
    remove_stale();
    create();
    if (exists) must("cannot set the mode", files_.fchmod(fd_, old.st_mode & 07777));
  } catch (...) {
    give_up();
    throw;
  }
}

NewFile::~NewFile() { give_up(); }

void NewFile::give_up() noexcept {
  // A user's file system may throw.
  try {
    if (!temporary_.empty()) files_.unlink(std::exchange(temporary_, {}));
  } catch (...) {
  }
  try {
    if (fd_ >= 0) files_.close(std::exchange(fd_, -1));
  } catch (...) {
  }
}

void NewFile::fail(const std::string& why) const {
  throw FileError("cannot save " + printable(path_ + ": " + why));
}

// Follows links by readlink, since realpath fails if the last target does not exist.
void NewFile::follow_links() {
  std::string to;
  for (int n = 0; files_.readlink(target_, to) >= 0; ++n) {
    if (n == kMostLinks) fail(reason(-ELOOP));
    target_ = to.starts_with('/') ? to : folder_part(target_) + to;
  }
}

// Returns whether a link and its target are one file. Retries, since another writer may replace the
// file between the two calls.
bool NewFile::leads_to_target() const {
  for (int tries = 0; tries < 100; ++tries) {
    struct stat link = {}, file = {};
    if (files_.stat(path_, link) < 0 || files_.stat(target_, file) < 0) return false;
    if (file.st_dev == link.st_dev && file.st_ino == link.st_ino) return true;
  }
  return false;
}

void NewFile::must(const char* what, int result) {
  if (result >= 0) return;
  fail(std::string(what) + ": " + reason(result));
}

void NewFile::remove_stale() const {
  std::vector<std::string> names;
  files_.list(folder_, names);  // an unreadable folder does not prevent saving
  for (const std::string& other : names) {
    if (!is_temporary_of(other, stem_)) continue;
    const std::string stale = folder_ + other;
    const int fd = files_.open(stale, O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0) continue;
    if (files_.flock(fd) >= 0) files_.unlink(stale);
    files_.close(fd);
  }
}

void NewFile::create() {
  std::uint64_t tag = unlikely_number();
  int r = -EEXIST;
  for (int attempt = 0; attempt < 100 && r == -EEXIST; ++attempt) {
    tag = mix_bits(tag);
    std::string name = folder_ + stem_ + std::string(kMark) + digits_of(tag);
    r = files_.open(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (r < 0) continue;
    fd_ = r;
    temporary_.swap(name);  // cannot throw: from here on the destructor removes the file
    // Before it was locked, another process may have removed the file as stale.
    struct stat mine = {}, there = {};
    const int lock = files_.flock(fd_);
    const bool taken = lock == -EWOULDBLOCK ||
                       (files_.fstat(fd_, mine) >= 0 &&
                        (files_.stat(temporary_, there) < 0 || mine.st_ino != there.st_ino));
    if (!taken) return;
    give_up();
    r = -EEXIST;
  }
  fail("no file can be made in folder " + folder_ + ": " + reason(r));
}

void NewFile::write_now(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::int64_t n = files_.write(fd_, bytes.data(), bytes.size());
    if (n <= 0) fail("cannot write: " + reason(n == 0 ? -ENOSPC : n));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void NewFile::write(std::string_view bytes) {
  if (waiting_.size() + bytes.size() <= kSmall) {
    waiting_ += bytes;
    return;
  }
  write_now(waiting_);
  waiting_.clear();
  write_now(bytes);
}

void NewFile::commit() {
  write_now(waiting_);
  waiting_.clear();
  must("cannot flush", files_.fsync(fd_));
  must("cannot rename", files_.rename(temporary_, target_));
  temporary_.clear();
  must("it is written, but not closed", files_.close(std::exchange(fd_, -1)));

  // Flushes the folder, which holds the new name. Some file systems do not support it.
  const int folder = files_.open(folder_, O_RDONLY | O_DIRECTORY, 0);
  if (folder == -EACCES) return;
  const char* const what = "it is written, but its folder cannot be flushed";
  must(what, folder);
  const int r = files_.fsync(folder);
  files_.close(folder);
  if (r != -EINVAL && r != -ENOTSUP) must(what, r);
}

void io_detail::out_of_memory(const char* verb, const std::string& path) {
  throw OutOfMemoryError(std::string("cannot ") + verb + " " + printable(path) + ": out of memory");
}

void write_file(const std::string& path, std::string_view bytes, const SaveOptions& options) {
  NewFile file(path, options.files);
  file.write(bytes);
  file.commit();
}

InputFile::InputFile(const std::string& path, const FileSystem* files)
    : files_(files ? *files : system_), path_(path) {
  // Without O_NONBLOCK, opening a pipe blocks until a writer opens it.
  fd_ = files_.open(path, O_RDONLY | O_NONBLOCK, 0);
  if (fd_ < 0) fail(reason(fd_));
  struct stat info = {};
  const int r = files_.fstat(fd_, info);
  if (r >= 0 && S_ISREG(info.st_mode)) {
    size_ = static_cast<std::uint64_t>(info.st_size);
    return;
  }
  files_.close(std::exchange(fd_, -1));
  fail(r < 0 ? reason(r) : "it is not a regular file");
}

InputFile::~InputFile() {
  try {
    if (fd_ >= 0) files_.close(fd_);
  } catch (...) {
  }
}

void InputFile::fail(const std::string& why) const {
  throw FileError("cannot load " + printable(path_ + ": " + why));
}

void InputFile::read(std::uint64_t at, char* to, std::size_t n) const {
  while (n > 0) {
    const std::int64_t got = files_.pread(fd_, to, n, at);
    if (got < 0) fail(reason(got));
    if (got == 0) fail("the file is cut short: it ends after " + std::to_string(at) + " bytes");
    at += static_cast<std::uint64_t>(got);
    to += got;
    n -= static_cast<std::size_t>(got);
  }
}

std::shared_ptr<char> InputFile::map() const {
  char* const bytes = size_ > 0 ? files_.map(fd_, size_) : nullptr;
  if (!bytes) return nullptr;
  const FileSystem* const given = &files_ == &system_ ? nullptr : &files_;
  return {bytes, [given, n = size_](char* p) { (given ? *given : FileSystem()).unmap(p, n); }};
}

std::string InputFile::read(std::uint64_t at, std::uint64_t n) const {
  if (at > size_ || n > size_ - at)
    fail("the file is cut short: it ends after " + std::to_string(size_) + " bytes");
  std::string bytes(n, '\0');
  read(at, bytes.data(), n);
  return bytes;
}

}  // namespace dynet
