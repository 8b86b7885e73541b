#include "dynet-like/io/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/io/file_systems.h"
#include "tests/io/folder.h"
#include "tests/support/prelude.h"

namespace files_test {

using namespace dynet;

namespace {

std::string payload_of(std::size_t n) {
  std::string s(n, '\0');
  for (std::size_t i = 0; i < n; ++i) s[i] = static_cast<char>(i * i * 31 + i * 7);
  return s;
}

std::string failed_read(const std::string& path) {
  return message_of<FileError>([&] {
    const InputFile in(path);
    in.read(0, in.size());
  });
}

}  // namespace

TEST_CASE("a file comes back") {
  const TemporaryFolder folder;
  for (std::size_t n : {0u, 1u, 8u, 1000u, 3000000u}) {
    write_file(folder / "m", payload_of(n));
    CHECK(InputFile(folder / "m").read(0, n) == payload_of(n));
  }
  NewFile pieces(folder / "m");
  std::string all;
  for (std::size_t n : {1u, 100u, 70000u, 0u, 65535u, 5u}) {
    pieces.write(payload_of(n));
    all += payload_of(n);
  }
  CHECK(read_file(folder / "m").size() == 3000000);
  pieces.commit();
  CHECK(read_file(folder / "m") == all);
  { NewFile(folder / "other").write("never committed"); }
  CHECK(folder.names() == std::vector<std::string>{"m"});
  const InputFile in(folder / "m");
  char c[8];
  CHECK_SAYS(FileError, in.read(in.size() - 4, c, 8), "the file is cut short: it ends after");
}

TEST_CASE("only regular files are read") {
  const TemporaryFolder folder;
  const std::string path = folder / "m", start = "cannot load " + path + ": ";
  CHECK(failed_read(path) == start + "No such file or directory");
  CHECK_THAT(failed_read(folder.path().string()), Catch::Contains("it is not a regular file"));
  CHECK_THAT(failed_read("/dev/null"), Catch::Contains("it is not a regular file"));
  const std::string pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THAT(failed_read(pipe), Catch::Contains("it is not a regular file"));
  if (geteuid() != 0) {
    write_file(path, "x");
    chmod(path.c_str(), 0);
    CHECK(failed_read(path) == start + "Permission denied");
  }
}

TEST_CASE("a failed write leaves the old file and nothing else") {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  write_file(path, "old");
  for (rlim_t limit : {0u, 1u, 39u, 40u, 100u, 4096u, 999999u}) {
    std::string message;
    {
      const FileSizeLimit full(limit);
      message = failed_write(path, payload_of(1000000));
    }
    CHECK(message == "cannot save " + path + ": cannot write: File too large");
    CHECK(read_file(path) == "old");
    CHECK(folder.names() == std::vector<std::string>{"m"});
  }
  {
    const FileSizeLimit full(1000000);
    CHECK(failed_write(path, payload_of(1000000)).empty());
  }
  CHECK(read_file(path) == payload_of(1000000));

  const FileSizeLimit full(50);  // and no file where there was none
  CHECK_FALSE(failed_write(folder / "other", payload_of(100)).empty());
  CHECK(folder.names() == std::vector<std::string>{"m"});
}

TEST_CASE("a target that cannot be is refused") {
  const TemporaryFolder folder;
  CHECK_THAT(failed_write((folder / "no") + "/m"),
             Catch::Contains("no file can be made in folder"));
  write_file(folder / "file", "x");
  CHECK_FALSE(failed_write((folder / "file") + "/m").empty());
  CHECK_THAT(failed_write(folder.path().string()), Catch::Contains("it is not a regular file"));
  CHECK_THAT(failed_write("/dev/full"), Catch::Contains("it is not a regular file"));
  CHECK_FALSE(failed_write("").empty());
  CHECK_FALSE(failed_write(folder / std::string(300, 'x')).empty());
  if (geteuid() != 0) {
    write_file(folder / "m", "old");
    chmod((folder / "m").c_str(), 0444);
    CHECK_THAT(failed_write(folder / "m"), Catch::Contains("it may not be written"));
    chmod((folder / "m").c_str(), 0644);
    chmod(folder.path().c_str(), 0555);
    CHECK_THAT(failed_write(folder / "m"), Catch::Contains("no file can be made in folder"));
    chmod(folder.path().c_str(), 0755);
    CHECK(read_file(folder / "m") == "old");
    std::filesystem::remove(folder / "m");
  }
  CHECK(folder.names() == std::vector<std::string>{"file"});
}

TEST_CASE("a write removes files that killed processes left, not those being written") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "m.tmp-00000000000000ff");  // not ours
  write_file(folder / "m.tmp-0123456789abcdef", "left behind");
  write_file(folder / "m.tmp-0123456789abcdeg", "not ours");
  write_file(folder / "m.tmp-0123456789abcde", "not ours");
  write_file(folder / "n.tmp-0123456789abcdef", "of another file");
  {
    NewFile busy(folder / "m");
    CHECK(folder.names().size() == 5);  // the first one is gone, the new one is there
    write_file(folder / "m", "other");
    CHECK(folder.names().size() == 6);
    busy.write("mine");
    busy.commit();
  }
  CHECK(read_file(folder / "m") == "mine");
  CHECK(folder.names().size() == 5);
  CHECK(read_file(folder / "n.tmp-0123456789abcdef") == "of another file");
}

}  // namespace files_test
