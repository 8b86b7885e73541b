// Shared code of the programs for standard streams and files, in detail.

#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

#include <cerrno>
#include <ostream>
#include <thread>

#include "dynet-like/io/files.h"
#include "tests/examples/helpers.h"
#include "tools/program/descriptor.h"
#include "tools/program/errors.h"
#include "tools/program/files.h"
#include "tools/program/new_files.h"

namespace program_support_test {

using namespace program;

struct Pipe {
  int from = -1, to = -1;
  Pipe() {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    from = ends[0];
    to = ends[1];
  }
  ~Pipe() { ::close(from); }

  std::string read(std::size_t most = 1 << 16) const {
    std::string bytes(most, '\0');
    const ssize_t n = ::read(from, bytes.data(), most);
    bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return bytes;
  }
};

int error_of(DescriptorBuffer& buffer) {
  try {
    buffer.pubsync();
  } catch (const OutputError& error) {
    return error.error();
  }
  return 0;
}

TEST_CASE("Program: DescriptorBuffer writes everything if the descriptor waits or not") {
  for (const bool waits : {true, false}) {
    Pipe pipe;
    if (!waits) REQUIRE(fcntl(pipe.to, F_SETFL, O_NONBLOCK) == 0);
    std::string got, wanted;
    std::thread reader([&] {
      for (std::string piece; !(piece = pipe.read(1000)).empty();) got += piece;
    });
    {
      DescriptorBuffer buffer(pipe.to, "the pipe");
      std::ostream out(&buffer);
      for (unsigned i = 0; i < 50000; ++i) {
        const std::string line = std::to_string(i) + std::string(i % 50, 'x') + '\n';
        out << line;
        wanted += line;
      }
      buffer.finish();
    }
    reader.join();
    CHECK((got == wanted));
  }
}

TEST_CASE("Program: DescriptorBuffer holds a bounded number of bytes") {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", "");
  constexpr std::size_t kPieces = 1000, kMostWaiting = 1 << 17;
  const std::string piece(1000, 'x');
  DescriptorBuffer buffer(::open(path.c_str(), O_WRONLY), "a file");
  for (std::size_t i = 0; i < kPieces; ++i) buffer.sputn(piece.data(), 1000);
  CHECK(std::filesystem::file_size(path) + kMostWaiting > kPieces * piece.size());
  buffer.finish();
  CHECK(std::filesystem::file_size(path) == kPieces * piece.size());
}

TEST_CASE("Program: DescriptorBuffer reports a failed write once and drops its bytes") {
  const int full = ::open("/dev/full", O_WRONLY);
  REQUIRE(full >= 0);
  DescriptorBuffer buffer(full, "somewhere");
  buffer.sputn("text", 4);
  CHECK(error_of(buffer) == ENOSPC);
  CHECK(error_of(buffer) == 0);
  std::ostream out(&buffer);
  out.exceptions(std::ios::badbit);
  CHECK(error_from([&] { out << "more" << std::flush; }) ==
        "cannot write somewhere: No space left on device");

  Pipe pipe;
  ::close(pipe.from);
  const int closed = std::exchange(pipe.from, -1);
  CHECK(error_from([&] { DescriptorBuffer::copy_of(closed, "nothing"); }) ==
        "cannot write nothing: Bad file descriptor");
  DescriptorBuffer twice(pipe.to, "a pipe");
  ::close(pipe.to);
  CHECK(error_from([&] { twice.finish(); }) == "cannot write a pipe: Bad file descriptor");
}

TEST_CASE("Program: a terminal shows lines as they are complete") {
  int master = -1, slave = -1;
  if (openpty(&master, &slave, nullptr, nullptr, nullptr) != 0)
    return skip("there are no terminals here");
  REQUIRE(fcntl(master, F_SETFL, O_NONBLOCK) == 0);
  const auto shown = [&] {
    char bytes[100];
    const ssize_t n = ::read(master, bytes, sizeof bytes);
    return std::string(bytes, n > 0 ? static_cast<std::size_t>(n) : 0);
  };
  DescriptorBuffer buffer(slave, "a terminal");
  buffer.sputn("one", 3);
  CHECK(shown().empty());
  buffer.sputn(" line\n", 6);
  CHECK(shown() == "one line\r\n");
  buffer.finish();
  ::close(master);
}

TEST_CASE("Program: paths that stand for descriptors") {
  const TemporaryFolder folder;
  const auto link = [&](const std::string& to, const std::string& name) {
    std::filesystem::create_symlink(to, folder.path(name));
    return folder.path(name);
  };
  CHECK(descriptor_of("/dev/stdin") == 0);
  CHECK(descriptor_of("/dev/stdout") == 1);
  CHECK(descriptor_of("/dev/fd/27") == 27);
  CHECK(descriptor_of("/dev/../dev/fd/3") == 3);
  CHECK(descriptor_of("/proc/self/fd/4") == 4);
  CHECK(descriptor_of("/proc/" + std::to_string(getpid()) + "/fd/5") == 5);
  CHECK(descriptor_of(link("/dev/stdout", "out")) == 1);
  CHECK(descriptor_of(link("out", "out2")) == 1);
  CHECK(descriptor_of(link("/dev/fd", "folder") + "/6") == 6);
  for (const std::string& none :
       {std::string(), std::string("-"), std::string("1"), std::string("/dev/null"),
        std::string("/dev/fd/x"), std::string("/dev/fd/99999999999"), std::string("/dev/fd"),
        folder.write("file", ""), folder.path("nothing"), folder.path("no/folder"),
        link("file", "to_file"), link("loop", "loop"), link("nowhere", "dangling")}) {
    INFO(none);
    CHECK_FALSE(descriptor_of(none).has_value());
  }
}

TEST_CASE("Program: files that are one") {
  const TemporaryFolder folder;
  const std::string one = folder.write("one", "x"), two = folder.write("two", "x");
  const std::string hard = folder.path("hard");
  std::filesystem::create_hard_link(one, hard);
  const auto error = [](const NamedFile& written, const std::vector<NamedFile>& read) {
    return error_from([&] { require_different(written, read); });
  };
  CHECK(error({"-o", one}, {{"-i", two}, {"-m", hard}}) ==
        "-o " + one + " and -m " + hard + " are the same file, which would be lost");
  CHECK(error({"", one}, {{"", one}}) ==
        one + " and " + one + " are the same file, which would be lost");
  CHECK(error({"-o", one}, {{"-i", two}}) == "no error");
  CHECK(error({"-o", ""}, {{"-i", ""}}) == "no error");
  CHECK(error({"-o", folder.path("no")}, {{"-i", folder.path("no")}}) == "no error");
  CHECK(error({"-o", "/dev/null"}, {{"-i", "/dev/null"}}) == "no error");
  CHECK(error({"-o", folder.path("")}, {{"-i", folder.path("")}}) == "no error");
}

TEST_CASE("Program: names that no file can have") {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& name) {
    return error_from([&] { require_possible(folder.path(name)); });
  };
  std::filesystem::create_symlink("loop", folder.path("loop"));
  std::filesystem::create_symlink(std::string(256, 'x'), folder.path("long"));
  CHECK(contains(error("loop"), "cannot save " + folder.path("loop") + ": Too many levels"));
  CHECK(contains(error("long"), ": File name too long"));
  CHECK(contains(error(std::string(256, 'x')), ": File name too long"));
  for (const std::string& possible :
       {std::string(255, 'x'), std::string("no/folder"), folder.write("file", ""), std::string()})
    CHECK(error(possible) == "no error");
}

TEST_CASE("Program: files that were begun go when the program is interrupted") {
  const TemporaryFolder folder;
  const auto count = [&] {
    const std::filesystem::directory_iterator all(folder.path("")), end;
    return std::distance(all, end);
  };
  folder.write("old", "old");
  {
    // More than are kept in mind: those are only left behind.
    std::vector<std::unique_ptr<dynet::NewFile>> many;
    for (int i = 0; i < 20; ++i)
      many.push_back(
          std::make_unique<dynet::NewFile>(folder.path("new" + std::to_string(i)), &files()));
    CHECK(count() == 21);
  }
  CHECK(count() == 1);
  {
    dynet::NewFile kept(folder.path("kept"), &files());
    kept.write("text");
    kept.commit();
    remove_new_files();
    CHECK(read_file(folder.path("kept")) == "text");
    const dynet::NewFile replaced(folder.path("old"), &files());
    const dynet::NewFile another(folder.path("another"), &files());
    CHECK(count() == 4);
    remove_new_files();
    CHECK(count() == 2);
    CHECK(read_file(folder.path("old")) == "old");
  }
  CHECK(count() == 2);
}

}  // namespace program_support_test
