// Archives whose lengths speak of more than the file has, with right checksums.

#include "dynet-like/io/save.h"
#include "tests/io/folder.h"
#include "tests/support/prelude.h"

namespace archive_test {

using namespace dynet;

namespace {

/// Error text of loading `thing` after the last number `from` of its file is replaced by `to`.
template <class T, class Number>
std::string said(const T& thing, Number from, Number to) {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  save(path, thing);
  const ModelFile file(path);
  std::string archive = file.read(file.index().things[0].data);
  const std::string before(reinterpret_cast<const char*>(&from), sizeof from);
  const std::size_t at = archive.rfind(before);
  REQUIRE(at != archive.npos);
  std::memcpy(&archive[at], &to, sizeof to);
  write_model_file(path, file.index(), {archive});
  T read;
  const std::string why = message_of<FileError>([&] { load(path, read); });
  CHECK_THAT(why, Catch::Contains(path));
  return why;
}

constexpr std::uint64_t kLength = 77, kHuge = std::uint64_t{1} << 31;

}  // namespace

TEST_CASE("archives: a length takes no more memory than the file can fill") {
  CHECK_THAT(said(std::string(kLength, 'a'), kLength, kHuge),
             Catch::Contains("a text of 2147483648 characters is said to follow, and 77 are left"));
  CHECK_THAT(said(std::wstring(kLength, L'a'), kLength, kHuge),
             Catch::Contains("a text of 2147483648 characters is said to follow, and 77 are left"));
  for (const std::uint64_t length : {kLength + 1, kHuge, ~std::uint64_t{0}}) {
    CHECK(said(std::vector<std::string>(kLength, "abc"), kLength, length) != "");
    CHECK(said(std::vector<float>(kLength, 1.5f), kLength, length) != "");
    CHECK(said(std::vector<bool>(kLength, true), kLength, length) != "");
  }
  std::map<int, std::string> map;
  for (int i = 0; i < static_cast<int>(kLength); ++i) map[-i] = "abc";
  CHECK(said(map, kLength, kHuge) != "");
}

TEST_CASE("archives: one that is cut short anywhere is an error") {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  save(path, std::string("text"));
  const ModelFile file(path);
  const std::string archive = file.read(file.index().things[0].data);
  for (std::size_t size = 0; size < archive.size(); ++size) {
    CAPTURE(size);
    write_model_file(path, file.index(), {archive.substr(0, size)});
    std::string read;
    CHECK_THROWS_AS(load(path, read), FileError);
  }
}

TEST_CASE("archives: a truth value is 0 or 1") {
  CHECK_THAT(said(std::vector<bool>(1, true), '\x01', '\x07'),
             Catch::Contains("a truth value is 7"));
}

}  // namespace archive_test
