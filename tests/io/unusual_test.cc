// Rare failures of readers and writers of files.

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <stdexcept>

#include "dynet-like/io/bytes.h"
#include "dynet-like/io/files.h"
#include "dynet-like/io/save.h"
#include "tests/io/file_systems.h"
#include "tests/io/folder.h"
#include "tests/support/prelude.h"

namespace unusual_test {

using namespace dynet;
using io_detail::BytesOut;

namespace {

/// A file that may be read but not written.
class ReadOnlyFiles : public FileSystem {
 public:
  int access(const std::string&, int) const override { return -EACCES; }
};

/// Throws when a file is given up or closed.
class ThrowingFiles : public FileSystem {
 public:
  mutable bool throws = false;
  int close(int fd) const override {
    const int r = FileSystem::close(fd);
    if (throws) throw std::runtime_error("close");
    return r;
  }
  int unlink(const std::string& path) const override {
    const int r = FileSystem::unlink(path);
    if (throws) throw std::runtime_error("unlink");
    return r;
  }
};

/// A file that another process locks just when it was made.
class LockedFiles : public FileSystem {
 public:
  mutable int left = 2;
  int flock(int fd) const override { return left-- > 0 ? -EWOULDBLOCK : FileSystem::flock(fd); }
};

/// Another process takes a new file for a stale one just before it is locked, removes it, and may
/// make another file of that name.
class RemovedFiles : public FileSystem {
 public:
  bool makes_another = false;
  mutable int left = 2;
  mutable std::vector<std::string> others;  ///< what it has made

  int open(const std::string& path, int flags, unsigned mode) const override {
    last_ = path;
    return FileSystem::open(path, flags, mode);
  }
  int flock(int fd) const override {
    if (left-- > 0) {
      std::filesystem::remove(last_);
      if (makes_another) {
        std::ofstream(last_) << "another's";
        others.push_back(last_);
      }
    }
    return FileSystem::flock(fd);
  }

 private:
  mutable std::string last_;
};

/// Says that it is longer than anything can be.
struct TooLong {
  template <class Archive>
  void serialize(Archive& ar, unsigned) {
    int n = 1;
    ar& n;
    if (Archive::is_loading::value) throw std::length_error("too long");
  }
};

}  // namespace

TEST_CASE("bytes may be written one by one") {
  std::string bytes;
  BytesOut buffer(bytes);
  std::ostream out(&buffer);
  out.put('a');
  out << "bc";
  out.put('d');
  CHECK(out.good());
  CHECK(bytes == "abcd");
}

TEST_CASE("a file that may not be written stays as it is") {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  std::ofstream(path) << "old";
  const ReadOnlyFiles files;
  CHECK_THROWS_AS(NewFile(path, &files), FileError);
  CHECK(read_file(path) == "old");
}

TEST_CASE("exceptions of a user's FileSystem are dropped while files are closed or removed") {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  std::ofstream(path) << "old";
  ThrowingFiles files;
  {
    NewFile file(path, &files);
    files.throws = true;
  }
  CHECK(read_file(path) == "old");
  files.throws = false;
  {
    const InputFile file(path, &files);
    files.throws = true;
  }
}

TEST_CASE("a new file that another process holds is left to it, and another one is made") {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  const LockedFiles files;
  ParameterCollection pc;
  pc.add_parameters({2});
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto open_before = open_files();
  save(path, SaveOptions{&files}, pc);
  CHECK(files.left < 0);
  CHECK(open_files() == open_before);
  CHECK(std::distance(std::filesystem::directory_iterator(folder / ""), {}) == 1);
  ParameterCollection again;
  again.add_parameters({2});
  load(path, again);
}

TEST_CASE("a new file that another process removes before it is locked is made again") {
  for (const bool makes_another : {false, true}) {
    const TemporaryFolder folder;
    const std::string path = folder / "m";
    RemovedFiles files;
    files.makes_another = makes_another;
    write_file(path, "mine", {&files});
    CHECK(files.left < 0);
    CHECK(read_file(path) == "mine");
    CHECK(files.others.size() == (makes_another ? 2 : 0));
  }
}

TEST_CASE("more elements than any vector has is a want of memory") {
  CHECK_THROWS_AS(io_detail::with_memory("load", "m", [] { throw std::length_error("no"); }),
                  OutOfMemoryError);
}

TEST_CASE("a thing that finds itself too long is an error of its file") {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  TooLong thing;
  save(path, thing);
  CHECK_THROWS_AS(load(path, thing), FileError);
}

TEST_CASE("a group that a file does not have") {
  std::stringstream stream;
  {
    boost::archive::binary_oarchive out(stream);
    io_detail::put(out, "group", std::uint64_t{3});
  }
  boost::archive::binary_iarchive in(stream);
  const FileIndex index;
  io_detail::find_helper(in)->index = &index;
  CHECK_THROWS_AS(io_detail::load_group(in), FileError);
}

}  // namespace unusual_test
