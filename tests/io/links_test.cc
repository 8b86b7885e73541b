// Files are written where links lead, under the longest names there are.

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "dynet-like/io/files.h"
#include "tests/io/file_systems.h"
#include "tests/io/folder.h"
#include "tests/support/prelude.h"

namespace links_test {

using namespace dynet;
using std::filesystem::create_directory;
using std::filesystem::create_symlink;
using std::filesystem::is_symlink;

TEST_CASE("names of any length that a folder takes can be saved, again and again") {
  const TemporaryFolder folder;
  for (const std::size_t n : {1u, 99u, 100u, 101u, 233u, 234u, 235u, 240u, 254u, 255u}) {
    const std::string name(n, 'n');
    INFO(n);
    write_file(folder / name, "old");
    write_file(folder / name, "new");
    CHECK(read_file(folder / name) == "new");
    CHECK(folder.names() == std::vector<std::string>{name});
    std::filesystem::remove(folder / name);
  }
  CHECK_THAT(failed_write(folder / std::string(256, 'n')), Catch::Contains("File name too long"));
  CHECK(folder.names().empty());
}

TEST_CASE("the next writer of a long name removes the file that a killed process left") {
  const TemporaryFolder folder;
  const std::string name(255, 'a'), other(254, 'a');
  {
    FailingFiles files;
    files.stop_byte = 2;
    NewFile file(folder / name, &files);
    REQUIRE_THROWS_AS(
        [&] {
          file.write(std::string(100000, 'x'));
          file.commit();
        }(),
        Stopped);
  }
  REQUIRE(folder.names().size() == 1);
  CHECK(folder.names()[0].size() <= 100);
  write_file(folder / other, "other");
  CHECK(folder.names().size() == 2);  // for it is not known to be of this one
  write_file(folder / name, "new");
  CHECK(folder.names().size() == 2);
  CHECK(read_file(folder / name) == "new");
  CHECK(read_file(folder / other) == "other");
  // Long names that are written at once do not disturb each other.
  NewFile one(folder / name), two(folder / other);
  one.write("1");
  two.write("2");
  one.commit();
  two.commit();
  CHECK(read_file(folder / name) == "1");
  CHECK(read_file(folder / other) == "2");
  CHECK(folder.names().size() == 2);
}

TEST_CASE("a link that leads to no file gets one, whatever the way, and files keep their modes") {
  const TemporaryFolder folder;
  create_directory(folder / "sub");
  create_directory(folder / "other");
  create_symlink("sub/real", folder / "relative");
  create_symlink((folder / "sub") + "/absolute-target", folder / "absolute");
  create_symlink("third", folder / "second");
  create_symlink("second", folder / "first");
  create_symlink("other", folder / "folder-link");
  create_symlink("../sub/up", (folder / "other") + "/up");
  create_symlink("no/such/folder", folder / "nowhere");
  const std::pair<std::string, std::string> cases[] = {{"relative", "sub/real"},
                                                       {"absolute", "sub/absolute-target"},
                                                       {"first", "third"},
                                                       {"folder-link/up", "sub/up"},
                                                       {"folder-link/plain", "other/plain"}};
  for (const std::string bytes : {"made", "replaced"})
    for (const auto& [link, target] : cases) {
      INFO(link << " " << bytes);
      const bool was_link = is_symlink(folder / link);
      write_file(folder / link, bytes);
      CHECK(is_symlink(folder / link) == was_link);
      CHECK_FALSE(is_symlink(folder / target));
      CHECK(read_file(folder / target) == bytes);
      CHECK(read_file(folder / link) == bytes);
      struct stat info = {};
      REQUIRE(::stat((folder / target).c_str(), &info) == 0);
      if (bytes == "replaced") CHECK((info.st_mode & 0777) == 0640);
      REQUIRE(::chmod((folder / target).c_str(), 0640) == 0);
    }
  CHECK(is_symlink(folder / "second"));
  CHECK_THAT(failed_write(folder / "nowhere"), Catch::Contains("no file can be made in folder"));
  CHECK(is_symlink(folder / "nowhere"));
  CHECK(folder.names().size() == 9);  // nothing temporary is left
}

TEST_CASE("links by relative names and in the current folder are followed") {
  const TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  create_symlink("target", "link");
  write_file("link", "one");
  CHECK(read_file(folder / "target") == "one");
  CHECK(is_symlink(folder / "link"));
  write_file("./link", "two");
  CHECK(read_file(folder / "target") == "two");
  write_file("plain", "three");
  std::filesystem::current_path(before);
  CHECK(read_file(folder / "plain") == "three");
  CHECK(folder.names().size() == 3);
}

TEST_CASE("links that lead in a circle are an error and stay") {
  const TemporaryFolder folder;
  create_symlink("self", folder / "self");
  create_symlink("pong", folder / "ping");
  create_symlink("ping", folder / "pong");
  for (const char* name : {"self", "ping", "pong"}) {
    CHECK(failed_write(folder / name) ==
          "cannot save " + (folder / name) + ": Too many levels of symbolic links");
    CHECK(is_symlink(folder / name));
  }
  // As many links as the system follows are followed, one more is not.
  create_symlink("end", folder / "link1");
  for (int i = 2; i <= 41; ++i)
    create_symlink("link" + std::to_string(i - 1), folder / ("link" + std::to_string(i)));
  write_file(folder / "link40", "through 40 links");
  CHECK(read_file(folder / "end") == "through 40 links");
  CHECK_THAT(failed_write(folder / "link41"), Catch::Contains("Too many levels"));
  CHECK(read_file(folder / "end") == "through 40 links");
}

TEST_CASE("a link to a file that has no name any more is not replaced") {
  const TemporaryFolder folder;
  write_file(folder / "m", "old");
  const FileSystem files;
  const int fd = files.open(folder / "m", 2, 0);
  REQUIRE(fd >= 0);
  REQUIRE(::unlink((folder / "m").c_str()) == 0);
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  struct stat info = {};
  if (::stat(path.c_str(), &info) == 0) {
    CHECK_THAT(failed_write(path), Catch::Contains("the file that its link leads to has no name"));
    CHECK(folder.names().empty());
    write_file(folder / "m (deleted)", "another");  // what the system says that the link leads to
    CHECK_THAT(failed_write(path), Catch::Contains("the file that its link leads to has no name"));
    CHECK(read_file(folder / "m (deleted)") == "another");
  }
  files.close(fd);
}

TEST_CASE("a link to a folder, a pipe or a device is refused") {
  const TemporaryFolder folder;
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  create_directory(folder / "sub");
  create_symlink("pipe", folder / "to-pipe");
  create_symlink("sub", folder / "to-folder");
  create_symlink("/dev/null", folder / "to-device");
  for (const char* name : {"to-pipe", "to-folder", "to-device"}) {
    CHECK(failed_write(folder / name) ==
          "cannot save " + (folder / name) + ": it is not a regular file");
    CHECK(is_symlink(folder / name));
  }
}

TEST_CASE("messages about files show their names without control characters") {
  const TemporaryFolder folder;
  create_directory(folder / "a\nb\x1b[31m");
  const std::string shown = (folder / "a\\nb\\u{1b}[31m");
  CHECK(failed_write(folder / "a\nb\x1b[31m") ==
        "cannot save " + shown + ": it is not a regular file");
  CHECK(message_of<FileError>([&] { const InputFile in(folder / "a\nb\x1b[31m"); }) ==
        "cannot load " + shown + ": it is not a regular file");
}

}  // namespace links_test
