// Files that speak of more than there is, or that have more than memory: what a reader says, and
// what it must not ask for.

#include "dynet-like/compat/text_file.h"
#include "dynet-like/io/bytes.h"
#include "dynet-like/io/checkpoints.h"
#include "dynet-like/io/checksum.h"
#include "dynet-like/io/contents.h"
#include "dynet-like/io/safetensors.h"
#include "dynet-like/io/word_vectors.h"
#include "tests/io/file_systems.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/prelude.h"
#include "tests/support/sanitized.h"

namespace hostile_test {

using namespace dynet;
using io_detail::append_number;

namespace {

constexpr std::uint64_t kHuge = std::uint64_t{1} << 48;  // no address space has it

// Bytes at the start and at the end of a file, zeros between.
class HugeFile : public OneFile {
 public:
  std::string start, end;
  std::uint64_t size = 0;

  std::uint64_t length() const override { return size; }
  std::int64_t pread(int, char* to, std::size_t n, std::uint64_t at) const override {
    if (at >= size) return 0;
    n = std::min<std::uint64_t>(n, size - at);
    std::memset(to, 0, n);
    for (std::uint64_t i = at; i < std::min<std::uint64_t>(at + n, start.size()); ++i)
      to[i - at] = start[i];
    const std::uint64_t tail = size - end.size();
    for (std::uint64_t i = std::max(at, tail); i < at + n; ++i) to[i - at] = end[i - tail];
    return static_cast<std::int64_t>(n);
  }
};

std::string safetensors_start(std::uint64_t values) {
  const std::string header = "{\"a\":{\"dtype\":\"F32\",\"shape\":[" + std::to_string(values) +
                             "],\"data_offsets\":[0," + std::to_string(4 * values) + "]}}";
  std::string start;
  append_number(start, std::uint64_t{header.size()});
  return start + header;
}

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
  const std::string why = failed_load(path, read);
  CHECK_THAT(why, Catch::Contains(path));
  return why;
}

constexpr std::uint64_t kLength = 77, kMost = std::uint64_t{1} << 31;

const std::string kOutOfMemory = "cannot load m: out of memory";

}  // namespace

TEST_CASE("arrays that fill a file but no memory are a typed error that names the file") {
  if (DYNET_SANITIZED) return skip("the sanitizer ends programs that ask for so much");
  HugeFile files;
  files.start = safetensors_start(kHuge / 4);
  files.size = files.start.size() + kHuge;
  const auto read = [&] { read_safetensors("m", nullptr, &files); };
  CHECK(message_of<OutOfMemoryError>(read) == kOutOfMemory);
  ParameterCollection pc;
  pc.add_parameters({2}, "a");
  CHECK(message_of<OutOfMemoryError>([&] { load_safetensors("m", pc, {.files = &files}); }) ==
        kOutOfMemory);
  // One byte less, and it is the file that is wrong.
  files.size -= 1;
  CHECK_SAYS(FileError, read(), "the tensors have");
}

TEST_CASE("a model file whose table fits no memory is a typed error") {
  if (DYNET_SANITIZED) return skip("the sanitizer ends programs that ask for so much");
  FileIndex index;
  SavedTensor table;
  table.name = "/E";
  table.is_lookup = true;
  table.rows = 1u << 24;
  table.sizes = {1u << 22};
  index.groups = {{"ParameterCollection", {}, {table}}};
  std::string encoded = encode_index(index);
  const std::uint64_t begin = (64 + encoded.size() + 63) / 64 * 64;
  index.groups[0].tensors[0].data.offset = begin;
  encoded = encode_index(index);
  HugeFile files;
  files.size = begin + 4 * table.count();
  files.start = encode_header(files.size, encoded) + encoded;
  const ModelFile file("m", &files);
  CHECK(message_of<OutOfMemoryError>([&] { file.read(file.index().groups[0].tensors[0].data); }) ==
        kOutOfMemory);
  CHECK(message_of<OutOfMemoryError>([&] { tensors_of(file, file.index().groups[0]); }) ==
        kOutOfMemory);
}

TEST_CASE("lines without an end are an error of the file") {
  HugeFile files;
  files.size = kHuge;
  const auto nothing = [](auto, const auto&) {};
  files.start = "word";
  CHECK_SAYS(FileError, read_word_vectors("m", nothing, VectorFormat::text, &files),
             "bytes without an end");
  files.start = "9 9\nword";
  CHECK_SAYS(FileError, read_word_vectors("m", nothing, VectorFormat::binary, &files),
             "bytes without an end");
}

TEST_CASE("a folder has no checkpoints that cannot be listed") {
  class NoList : public FileSystem {
   public:
    int list(const std::string&, std::vector<std::string>&) const override { return -EACCES; }
  };
  const TemporaryFolder folder;
  const NoList files;
  CHECK_SAYS(FileError, Checkpoints(folder / "c", 3, {&files}).paths(), "cannot list the folder");
}

TEST_CASE("each reserved byte of a header must be zero, whatever the checksum") {
  const TemporaryFolder folder;
  save(folder / "m", 1);
  const std::string good = read_file(folder / "m");
  std::vector<std::size_t> reserved = {12, 13, 14, 15};
  for (std::size_t at = 40; at < 56; ++at) reserved.push_back(at);
  for (const std::size_t at : reserved)
    for (const int value : {1, 0x80, 0xff}) {
      INFO(at);
      std::string bad = good, sum;
      REQUIRE(bad[at] == 0);
      bad[at] = static_cast<char>(value);
      append_number(sum, checksum(bad.substr(0, 56)));
      MemoryFile files;
      files.bytes = bad.replace(56, 8, sum);
      int number = 7;
      REQUIRE(message_of<FileError>([&] { load("m", LoadOptions{.files = &files}, number); }) ==
              "cannot load m: its header uses bytes that mean nothing in version 1");
      REQUIRE(number == 7);
    }
}

TEST_CASE("names from files are shown without control characters") {
  const std::string bad = "x\n\x1b[2J\xff", shown = "x\\n\\u{1b}[2J\\xff";
  const TemporaryFolder folder;
  ParameterCollection pc;
  Parameter p = pc.add_parameters({2}, ParameterInitConst(1), bad);
  p.set_updated(false);
  AdamTrainer adam(pc);
  save(folder / "m.dynet", pc, adam);
  ParameterCollection other;
  const auto say = [&](const std::string& message) {
    INFO(message);
    CHECK(message.find(shown) != std::string::npos);
    CHECK(std::none_of(message.begin(), message.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }));
  };
  say(failed_load(folder / "m.dynet", other, adam));
  say(message_of<FileError>([&] { store_tensors("m", tensors_of(pc), other); }));
  const LoadReport report =
      store_tensors("m", tensors_of(pc), other, {.allow_missing = true, .allow_extra = true});
  REQUIRE(report.left_out.size() == 1);
  say(report.left_out[0]);
  say(message_of<FileError>([&] { format_of_name(folder / bad); }));
  const Dict words({"a"});
  say(message_of<ArgumentError>([&] { words.convert(bad); }));
  say(message_of<ArgumentError>([&] { Dict({bad, bad}); }));
  std::vector<int> a, b;
  Dict one, two;
  say(message_of<ArgumentError>(
      [&] { read_sentence_pair("no separator " + bad, a, one, b, two); }));
  say(message_of<ArgumentError>([&] {
    const float row[] = {1};
    write_word_vectors(folder / "v", {bad}, row, 1);
  }));
  write_file(folder / "v", "1 2\nx \x1b[2Jx\xff 1\n");
  CHECK_SAYS(FileError, read_word_vectors(folder / "v", [](auto, const auto&) {}),
             "\"\\u{1b}[2Jx\\xff\" is not a number");
  write_file(folder / "t", "#Parameter# /x\x1b[2J\xff {2,} 9\n1\n");
  CHECK_SAYS(FileError, read_text_tensors(folder / "t"), "/x\\u{1b}[2J\\xff: \"{2,}\" is no shape");
}

TEST_CASE("archives: a length takes no more memory than the file can fill") {
  CHECK_THAT(said(std::string(kLength, 'a'), kLength, kMost),
             Catch::Contains("a text of 2147483648 characters is said to follow, and 77 are left"));
  CHECK_THAT(said(std::wstring(kLength, L'a'), kLength, kMost),
             Catch::Contains("a text of 2147483648 characters is said to follow, and 77 are left"));
  for (const std::uint64_t length : {kLength + 1, kMost, ~std::uint64_t{0}}) {
    CHECK(said(std::vector<std::string>(kLength, "abc"), kLength, length) != "");
    CHECK(said(std::vector<float>(kLength, 1.5f), kLength, length) != "");
    CHECK(said(std::vector<bool>(kLength, true), kLength, length) != "");
  }
  std::map<int, std::string> map;
  for (int i = 0; i < static_cast<int>(kLength); ++i) map[-i] = "abc";
  CHECK(said(map, kLength, kMost) != "");
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

}  // namespace hostile_test
