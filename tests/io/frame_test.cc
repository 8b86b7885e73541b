#include "dynet-like/io/frame.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "dynet-like/base/errors.h"
#include "tests/io/folder.h"
#include "tests/support/catch.h"

using namespace dynet;

namespace {

std::string payload_of(std::size_t n) {
  std::string s(n, '\0');
  for (std::size_t i = 0; i < n; ++i) s[i] = static_cast<char>(i * i * 31 + i * 7);
  return s;
}

// Makes writing fail after so many bytes, as a full disk does.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    rlimit now = old_;
    now.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_;
  void (*handler_)(int);
};

std::string failed_write(const std::string& path, const std::string& payload = "new") {
  return message_of<FileError>([&] { write_framed(path, payload); });
}

std::string failed_read(const std::string& path) {
  return message_of<FileError>([&] { read_framed(path); });
}

}  // namespace

TEST_CASE("the checksum is CRC-64/XZ") {
  CHECK(crc64("123456789") == 0x995dc9bbdf1939fau);  // the check value of its definition
  CHECK(crc64("") == 0);
  const std::string bytes = payload_of(1000);
  for (std::size_t cut : {0u, 1u, 7u, 8u, 9u, 500u, 1000u})
    CHECK(crc64(bytes.substr(cut), crc64(bytes.substr(0, cut))) == crc64(bytes));
}

TEST_CASE("a framed file comes back") {
  const TemporaryFolder folder;
  for (std::size_t n : {0u, 1u, 8u, 1000u, 3000000u}) {
    write_framed(folder / "m", payload_of(n));
    CHECK(read_framed(folder / "m") == payload_of(n));
    CHECK(read_file(folder / "m").size() == n + 40);
  }
  CHECK(folder.names() == std::vector<std::string>{"m"});
}

TEST_CASE("the bytes of a framed file are as documented") {
  const TemporaryFolder folder;
  write_framed(folder / "m", "payload");
  const std::string bytes = read_file(folder / "m");
  CHECK(bytes.substr(0, 8) ==
        "\x89"
        "dynet\r\n");
  CHECK(bytes.substr(8, 16) == std::string("\1\0\0\0"
                                           "\0\0\0\0"
                                           "\7\0\0\0\0\0\0\0",
                                           16));
  CHECK(bytes.substr(40) == "payload");
  const auto number = [&](std::size_t at) {
    std::uint64_t x = 0;
    for (std::size_t i = 8; i-- > 0;) x = x << 8 | static_cast<unsigned char>(bytes[at + i]);
    return x;
  };
  CHECK(number(24) == crc64("payload"));
  CHECK(number(32) == crc64(bytes.substr(0, 32)));
}

TEST_CASE("every changed byte and bit is noticed") {
  const TemporaryFolder folder;
  write_framed(folder / "m", payload_of(100));
  const std::string good = read_file(folder / "m");
  for (std::size_t i = 0; i < good.size(); ++i)
    for (int flip : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      write_file(folder / "m", bad);
      const std::string message = failed_read(folder / "m");
      REQUIRE(message.find(folder / "m") != std::string::npos);
      REQUIRE(message.find(i < 8    ? "it is not a model file"
                           : i < 40 ? "the checksum of its header is wrong"
                                    : "the checksum is wrong") != std::string::npos);
    }
}

TEST_CASE("a file cut at any length is refused") {
  const TemporaryFolder folder;
  write_framed(folder / "m", payload_of(100));
  const std::string good = read_file(folder / "m");
  for (std::size_t n = 0; n < good.size(); ++n) {
    write_file(folder / "m", good.substr(0, n));
    REQUIRE(failed_read(folder / "m") ==
            "cannot load " + (folder / "m") +
                ": the file is cut short: " + std::to_string(n < 40 ? 40 : 140) +
                " bytes expected, " + std::to_string(n) + " found");
  }
}

TEST_CASE("what is no model file is refused with the cause") {
  const TemporaryFolder folder;
  const std::string path = folder / "m", start = "cannot load " + path + ": ";
  CHECK(failed_read(path) == start + "No such file or directory");
  write_file(path, "#Parameter# /W {3,4} 200 ZERO_GRAD\n");
  CHECK(failed_read(path) == start + "it is not a model file of this library");

  write_framed(path, payload_of(10));
  const std::string good = read_file(path);
  write_file(path, good + "xyz");
  CHECK(failed_read(path) == start + "3 bytes follow after the end of the model");

  std::string newer = good;  // a later version keeps the header
  newer[8] = 2;
  const std::uint64_t sum = crc64(newer.substr(0, 32));
  for (std::size_t i = 0; i < 8; ++i) newer[32 + i] = static_cast<char>(sum >> (8 * i));
  write_file(path, newer);
  CHECK(failed_read(path) == start +
                                 "it has format version 2, made by a newer library; this one "
                                 "reads versions up to 1");

  CHECK(failed_read(folder.path().string()).find("it is not a regular file") != std::string::npos);
  CHECK(failed_read("/dev/null").find("it is not a regular file") != std::string::npos);
  const std::string pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(failed_read(pipe).find("it is not a regular file") != std::string::npos);
  if (geteuid() != 0) {
    write_file(path, good);
    chmod(path.c_str(), 0);
    CHECK(failed_read(path) == start + "Permission denied");
  }
}

TEST_CASE("a failed write leaves the old file and nothing else") {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  write_framed(path, "old");
  for (rlim_t limit : {0u, 1u, 39u, 40u, 100u, 4096u, 1000039u}) {
    std::string message;
    {
      const FileSizeLimit full(limit);
      message = failed_write(path, payload_of(1000000));
    }
    CHECK(message == "cannot save " + path + ": cannot write: File too large");
    CHECK(read_framed(path) == "old");
    CHECK(folder.names() == std::vector<std::string>{"m"});
  }
  {
    const FileSizeLimit full(1000040);
    CHECK(failed_write(path, payload_of(1000000)).empty());
  }
  CHECK(read_framed(path) == payload_of(1000000));

  const FileSizeLimit full(50);  // and no file where there was none
  CHECK_FALSE(failed_write(folder / "other", payload_of(100)).empty());
  CHECK(folder.names() == std::vector<std::string>{"m"});
}

TEST_CASE("a target that cannot be is refused") {
  const TemporaryFolder folder;
  CHECK(failed_write((folder / "no") + "/m").find("no file can be made in folder") !=
        std::string::npos);
  write_file(folder / "file", "x");
  CHECK_FALSE(failed_write((folder / "file") + "/m").empty());
  CHECK(failed_write(folder.path().string()).find("it is not a regular file") != std::string::npos);
  CHECK(failed_write("/dev/full").find("it is not a regular file") != std::string::npos);
  CHECK_FALSE(failed_write("").empty());
  CHECK_FALSE(failed_write(folder / std::string(300, 'x')).empty());
  if (geteuid() != 0) {
    write_framed(folder / "m", "old");
    chmod((folder / "m").c_str(), 0444);
    CHECK(failed_write(folder / "m").find("it may not be written") != std::string::npos);
    chmod((folder / "m").c_str(), 0644);
    chmod(folder.path().c_str(), 0555);
    CHECK(failed_write(folder / "m").find("no file can be made in folder") != std::string::npos);
    chmod(folder.path().c_str(), 0755);
    CHECK(read_framed(folder / "m") == "old");
    std::filesystem::remove(folder / "m");
  }
  CHECK(folder.names() == std::vector<std::string>{"file"});
}

TEST_CASE("links and modes survive a write") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "sub");
  write_framed((folder / "sub") + "/real", "old");
  REQUIRE(chmod(((folder / "sub") + "/real").c_str(), 0640) == 0);
  std::filesystem::create_symlink("sub/real", folder / "link");
  write_framed(folder / "link", "new");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(read_framed((folder / "sub") + "/real") == "new");
  struct stat info = {};
  REQUIRE(stat(((folder / "sub") + "/real").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0640);
}

TEST_CASE("many writers of one file leave one whole file") {
  const TemporaryFolder folder;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i)
        write_framed(folder / "m", std::string(10000, static_cast<char>('a' + t)));
    });
  for (std::thread& t : threads) t.join();
  const std::string last = read_framed(folder / "m");
  CHECK(last == std::string(10000, last[0]));
  CHECK(folder.names() == std::vector<std::string>{"m"});
}
