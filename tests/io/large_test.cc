// Tables of more than 4 GiB: with a file system that counts, and, where DYNET_LARGE is set, on the
// disk.

#include <sys/mman.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "dynet-like/io/save.h"
#include "dynet-like/param/storage.h"
#include "tests/io/file_systems.h"
#include "tests/io/folder.h"
#include "tests/support/prelude.h"

namespace large_test {

using namespace dynet;

namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30, kRows = 5 << 20, kSize = 256;
constexpr std::uint64_t kBytes = kRows * kSize * sizeof(float);
static_assert(kBytes == 5 * kGiB);

// One file of which only the bytes that are not zero are kept, in the pages in which they lie.
class SparseFile : public OneFile {
 public:
  mutable std::map<std::uint64_t, std::string> pages;
  mutable std::uint64_t size = 0;

  std::uint64_t length() const override { return size; }
  int fsync(int) const override { return 0; }
  int flock(int) const override { return 0; }
  int rename(const std::string&, const std::string&) const override { return 0; }
  int unlink(const std::string&) const override { return 0; }
  int list(const std::string&, std::vector<std::string>&) const override { return 0; }
  int stat(const std::string& name, struct stat& s) const override {
    return name == "m" ? -ENOENT : fstat(0, s);
  }
  std::int64_t write(int, const char* from, std::size_t n) const override {
    n = std::min(n, kPage - size % kPage);
    const std::string_view bytes(from, n);
    if (bytes.find_first_not_of('\0') != bytes.npos) {
      std::string& page = pages[size / kPage];
      page.resize(kPage);
      std::memcpy(page.data() + size % kPage, from, n);
    }
    size += n;
    return static_cast<std::int64_t>(n);
  }
  std::int64_t pread(int, char* to, std::size_t n, std::uint64_t at) const override {
    if (at >= size) return 0;
    n = std::min({n, kPage - at % kPage, size - at});
    const auto page = pages.find(at / kPage);
    if (page == pages.end())
      std::memset(to, 0, n);
    else
      std::memcpy(to, page->second.data() + at % kPage, n);
    return static_cast<std::int64_t>(n);
  }

 private:
  static constexpr std::size_t kPage = std::size_t{1} << 20;
};

// Memory full of zeros that costs nothing until it is written to.
class Zeros {
 public:
  Zeros()
      : bytes_(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    REQUIRE(bytes_ != MAP_FAILED);
  }
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;
  ~Zeros() { ::munmap(bytes_, kBytes); }
  float* floats() const { return static_cast<float*>(bytes_); }

 private:
  void* bytes_;
};

}  // namespace

TEST_CASE("a table of 5 GiB has 64-bit sizes and offsets in its file (slow)") {
  const Zeros zeros;
  const std::uint64_t last = kRows * kSize - 1, beyond = (4 * kGiB + 4096) / sizeof(float);
  zeros.floats()[0] = 1;
  zeros.floats()[beyond] = 2;
  zeros.floats()[last] = 3;
  FileIndex index;
  SavedTensor table, behind;
  table.name = "/E";
  table.is_lookup = true;
  table.rows = kRows;
  table.sizes = {kSize};
  behind.name = "/b";
  behind.sizes = {1};
  index.groups = {{"ParameterCollection", {}, {table, behind}}};
  const SparseFile files;
  write_model_file(
      "m", index, {{reinterpret_cast<const char*>(zeros.floats()), kBytes}, {"four", 4}}, {&files});
  CHECK(files.size > 5 * kGiB);
  CHECK(files.pages.size() < 8);

  const ModelFile file("m", &files);
  REQUIRE(file.index().groups.at(0).tensors.size() == 2);
  const SavedTensor &e = file.index().groups[0].tensors[0], &b = file.index().groups[0].tensors[1];
  CHECK(e.count() == kRows * kSize);
  CHECK(e.data.size == kBytes);
  CHECK(b.data.offset > 5 * kGiB);
  CHECK(file.read(b.data) == "four");
  file.verify_all();
  float x = 0;
  files.pread(0, reinterpret_cast<char*>(&x), sizeof x, e.data.offset + beyond * sizeof x);
  CHECK(x == 2);
  files.pages[(e.data.offset + beyond * sizeof x) >> 20][5] ^= 1;  // behind the first 4 GiB
  CHECK_THROWS_AS(file.verify_all(), FileError);
  std::printf("a table of %llu MiB in a file of %llu bytes\n",
              static_cast<unsigned long long>(kBytes >> 20),
              static_cast<unsigned long long>(files.size));
}

TEST_CASE("a table of 5 GiB is saved and loaded (slow)") {
  if (!std::getenv("DYNET_LARGE")) {
    skip("DYNET_LARGE is not set; takes 16 GiB of memory and 5 of the disk");
    return;
  }
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  const auto value = [](std::uint64_t row) { return static_cast<float>(row * 2654435761 % 65521); };
  {
    ParameterCollection one;
    const LookupParameter e =
        one.add_lookup_parameters(kRows, {kSize}, ParameterInitConst(0.5f), "E");
    for (std::uint64_t row = 0; row < kRows; ++row)
      e.stored().data[row * kSize + row % kSize] = value(row);
    save(path, one);
  }
  ParameterCollection two;
  const LookupParameter e = two.add_lookup_parameters(kRows, {kSize}, ParameterInitConst(0), "E");
  load(path, two);
  std::uint64_t wrong = 0;
  for (std::uint64_t row = 0; row < kRows; ++row) {
    const float* values = e.stored().data + row * kSize;
    wrong += values[row % kSize] != value(row) || values[(row + 1) % kSize] != 0.5f;
  }
  CHECK(wrong == 0);
  std::printf("a table of %llu MiB was saved and loaded\n",
              static_cast<unsigned long long>(kBytes >> 20));
}

}  // namespace large_test
