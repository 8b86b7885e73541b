#include "dynet-like/io/frame.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/random.h"
#include "dynet-like/base/thread_number.h"

namespace dynet {
namespace {

constexpr std::string_view kMagic(
    "\x89"
    "dynet\r\n",
    8);
constexpr std::size_t kHeaderSize = 40;

// table[0] advances the checksum by one byte, table[k] by k more zero bytes (Kounavis and Berry
// 2008).
using Tables = std::array<std::array<std::uint64_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables t{};
  for (std::uint64_t b = 0; b < 256; ++b) {
    std::uint64_t c = b;
    for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ (c & 1 ? 0xc96c5795d7870f42u : 0);
    t[0][b] = c;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t b = 0; b < 256; ++b) t[k][b] = (t[k - 1][b] >> 8) ^ t[0][t[k - 1][b] & 0xff];
  return t;
}

constexpr Tables kTables = make_tables();

template <class Int>
Int get_little_endian(const char* bytes) {
  Int x = 0;
  for (std::size_t i = sizeof(Int); i-- > 0;)
    x = static_cast<Int>(x << 8) | static_cast<unsigned char>(bytes[i]);
  return x;
}

template <class Int>
void put_little_endian(char* bytes, Int x) {
  for (std::size_t i = 0; i < sizeof(Int); ++i) bytes[i] = static_cast<char>(x >> (8 * i));
}

std::string reason(int error) { return std::generic_category().message(error); }

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  // Some file systems tell of a failed write only here. Returns errno or 0.
  int close() { return ::close(std::exchange(fd_, -1)) == 0 || errno == EINTR ? 0 : errno; }

 private:
  int fd_;
};

int open_retrying(const char* path, int flags, mode_t mode = 0) {
  int fd;
  do fd = ::open(path, flags | O_CLOEXEC, mode);
  while (fd < 0 && errno == EINTR);
  return fd;
}

// Removes the new file unless it has got its final name.
struct Remover {
  std::string path;
  ~Remover() {
    if (!path.empty()) ::unlink(path.c_str());
  }
};

int write_all(int fd, std::string_view bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), std::min(bytes.size(), kMost));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

int flush_to_disk(int fd) {
  int r;
  do r = ::fsync(fd);
  while (r != 0 && errno == EINTR);
  return r == 0 ? 0 : errno;
}

}  // namespace

std::uint64_t crc64(std::string_view bytes, std::uint64_t before) {
  std::uint64_t c = ~before;
  const char* p = bytes.data();
  std::size_t n = bytes.size();
  for (; n >= 8; p += 8, n -= 8) {
    const std::uint64_t x = c ^ get_little_endian<std::uint64_t>(p);
    c = 0;
    for (std::size_t k = 0; k < 8; ++k) c ^= kTables[7 - k][(x >> (8 * k)) & 0xff];
  }
  for (; n > 0; ++p, --n) c = (c >> 8) ^ kTables[0][(c ^ static_cast<unsigned char>(*p)) & 0xff];
  return ~c;
}

void write_framed(const std::string& path, std::string_view payload) {
  const auto fail = [&](const std::string& why) -> void {
    throw FileError("cannot save " + path + ": " + why);
  };
  if (path.empty()) fail("the name is empty");

  // Through a link the file itself is replaced, not the link.
  std::string target = path;
  std::error_code ignored;
  if (const auto real = std::filesystem::canonical(path, ignored); !ignored) target = real.string();
  struct stat old = {};
  const bool exists = ::stat(target.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) fail("it is not a regular file");
  if (exists && ::access(target.c_str(), W_OK) != 0)
    fail("it may not be written: " + reason(errno));
  const std::size_t slash = target.rfind('/');
  const std::string folder = slash == target.npos ? "."
                             : slash == 0         ? "/"
                                                  : target.substr(0, slash);

  char header[kHeaderSize] = {};
  std::memcpy(header, kMagic.data(), kMagic.size());
  put_little_endian(header + 8, kFrameVersion);
  put_little_endian(header + 16, static_cast<std::uint64_t>(payload.size()));
  put_little_endian(header + 24, crc64(payload));
  put_little_endian(header + 32, crc64({header, 32}));

  const auto clock = std::chrono::steady_clock::now().time_since_epoch().count();
  std::uint64_t tag =
      mix_bits(mix_bits(static_cast<std::uint64_t>(clock)) ^
               mix_bits(static_cast<std::uint64_t>(::getpid()) << 32 ^ this_thread_number()));
  std::string temporary;
  int fd = -1;
  for (int attempt = 0; attempt < 100 && fd < 0; ++attempt) {
    tag = mix_bits(tag);
    char digits[17] = {};
    for (std::size_t i = 0; i < 16; ++i) digits[i] = "0123456789abcdef"[(tag >> (4 * i)) & 15];
    temporary = target + ".tmp-" + digits;
    fd = open_retrying(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd < 0 && errno != EEXIST) break;
  }
  if (const int error = errno; fd < 0)
    fail("no file can be made in folder " + folder + ": " + reason(error));
  File file(fd);
  Remover remover{temporary};

  const auto must = [&](const char* what, int error) {
    if (error) fail(std::string(what) + ": " + reason(error));
  };
  if (exists) must("cannot set the mode", ::fchmod(fd, old.st_mode & 07777) == 0 ? 0 : errno);
  must("cannot write", write_all(fd, {header, kHeaderSize}));
  must("cannot write", write_all(fd, payload));
  must("cannot flush", flush_to_disk(fd));
  must("cannot close", file.close());
  must("cannot rename", ::rename(temporary.c_str(), target.c_str()) == 0 ? 0 : errno);
  remover.path.clear();

  // The new name lives in the folder. Some file systems cannot flush folders.
  File directory(open_retrying(folder.c_str(), O_RDONLY | O_DIRECTORY));
  if (directory.get() >= 0)
    if (const int error = flush_to_disk(directory.get()); error == EIO)
      fail("it is written, but folder " + folder + " cannot be flushed: " + reason(error));
}

std::string read_framed(const std::string& path) {
  const auto fail = [&](const std::string& why) -> void {
    throw FileError("cannot load " + path + ": " + why);
  };
  File file(open_retrying(path.c_str(), O_RDONLY | O_NONBLOCK));  // no waiting for a pipe's writer
  struct stat info = {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) fail(reason(errno));
  if (!S_ISREG(info.st_mode)) fail("it is not a regular file");
  const auto read_all = [&](char* to, std::size_t n) {
    std::size_t got = 0;
    while (got < n) {
      const ssize_t r = ::read(file.get(), to + got, std::min(n - got, std::size_t{1} << 30));
      if (r < 0 && errno == EINTR) continue;
      if (r < 0) fail(reason(errno));
      if (r == 0) break;
      got += static_cast<std::size_t>(r);
    }
    return got;
  };
  const auto cut_short = [&](std::uint64_t want, std::uint64_t got) {
    fail("the file is cut short: " + std::to_string(want) + " bytes expected, " +
         std::to_string(got) + " found");
  };

  char header[kHeaderSize];
  const std::size_t got = read_all(header, kHeaderSize);
  if (!kMagic.starts_with(std::string_view(header, std::min(got, kMagic.size()))))
    fail("it is not a model file of this library");
  if (got < kHeaderSize) cut_short(kHeaderSize, got);
  if (get_little_endian<std::uint64_t>(header + 32) != crc64({header, 32}))
    fail("the checksum of its header is wrong: the file was damaged or altered");
  const auto version = get_little_endian<std::uint32_t>(header + 8);
  if (version != kFrameVersion)
    fail("it has format version " + std::to_string(version) +
         ", made by a newer library; this one reads versions up to " +
         std::to_string(kFrameVersion));
  const auto size = get_little_endian<std::uint64_t>(header + 16);
  const auto there = static_cast<std::uint64_t>(info.st_size) - kHeaderSize;
  if (size > there) cut_short(size + kHeaderSize, there + kHeaderSize);
  if (size < there) fail(std::to_string(there - size) + " bytes follow after the end of the model");
  std::string payload(size, '\0');
  if (const std::size_t n = read_all(payload.data(), payload.size()); n < size)
    cut_short(size + kHeaderSize, n + kHeaderSize);
  if (get_little_endian<std::uint64_t>(header + 24) != crc64(payload))
    fail("the checksum is wrong: the file was damaged or altered");
  return payload;
}

}  // namespace dynet
