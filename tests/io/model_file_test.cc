#include "dynet-like/io/model_file.h"

#include <bit>
#include <cstdio>

#include "dynet-like/io/bytes.h"
#include "dynet-like/io/checksum.h"
#include "tests/io/file_systems.h"
#include "tests/io/folder.h"
#include "tests/support/prelude.h"

namespace model_file_test {

using namespace dynet;
using io_detail::append_number;
using io_detail::get_number;

namespace {

std::string bytes_of(std::size_t n) {
  std::string s(n, '\0');
  for (std::size_t i = 0; i < n; ++i) s[i] = static_cast<char>(i * i * 31 + i * 7 + 1);
  return s;
}

SavedTensor tensor(const std::string& name, std::vector<std::uint64_t> sizes) {
  SavedTensor t;
  t.name = name;
  t.sizes = std::move(sizes);
  return t;
}

// One of each: two things, a collection with a table, a trainer, a single parameter.
FileIndex example() {
  FileIndex index;
  index.things = {{"ParameterCollection", {}}, {"Dict", {}}};
  SavedTensor table = tensor("/E", {2});
  table.is_lookup = true;
  table.updated = false;
  table.rows = 3;
  SavedTensor second = tensor("/W", {3, 4});
  second.array = 1;
  index.groups = {{"ParameterCollection",
                   {{"/", 0.25}, {"/sub/", -1.0}},
                   {tensor("/W", {3, 4}), tensor("/sub/b", {}), table}},
                  {"AdamTrainer", {{"updates", 7}}, {tensor("/W", {3, 4}), second}},
                  {"Parameter", {}, {tensor("/p", {0})}}};
  return index;
}

const std::vector<std::string> kData = {bytes_of(5),  bytes_of(64), bytes_of(48), bytes_of(4),
                                        bytes_of(24), bytes_of(48), bytes_of(48), ""};

std::vector<std::string_view> data() { return {kData.begin(), kData.end()}; }

std::string written() {
  const TemporaryFolder folder;
  write_model_file(folder / "m", example(), data());
  return read_file(folder / "m");
}

std::string refused(const std::string& bytes) {
  MemoryFile files;
  files.bytes = bytes;
  return message_of<FileError>([&] { ModelFile("m", &files).verify_all(); });
}

// A file with this index, whatever it says, and right checksums; places move with the index.
std::string file_with(FileIndex index) {
  const auto aligned = [](std::size_t n) { return (n + 63) / 64 * 64; };
  const std::size_t before = 64 + encode_index(example()).size();
  const std::size_t now = 64 + encode_index(index).size();
  const std::uint64_t shift = std::uint64_t{aligned(now)} - aligned(before);
  for (SavedThing& t : index.things) t.data.offset += shift;
  for (SavedGroup& g : index.groups)
    for (SavedTensor& t : g.tensors) t.data.offset += shift;
  const std::string encoded = encode_index(index);
  const std::string rest =
      std::string(aligned(now) - now, '\0') + written().substr(aligned(before));
  return encode_header(now + rest.size(), encoded) + encoded + rest;
}

}  // namespace

TEST_CASE("the checksum is XXH64") {
  CHECK(checksum("") == 0xef46db3751d8e999u);
  CHECK(checksum("a") == 0xd24ec4f1a98c6e5bu);
  CHECK(checksum("abc") == 0x44bc2cf5ad770999u);
  CHECK(checksum("123456789") == 0x8cb841db40e6ae83u);
  const std::string bytes = bytes_of(1000);
  for (std::size_t cut : {0u, 1u, 7u, 31u, 32u, 33u, 500u, 999u, 1000u}) {
    Checksum sum;
    sum.add(bytes.substr(0, cut));
    sum.add(bytes.substr(cut));
    CHECK(sum.value() == checksum(bytes));
  }
}

TEST_CASE("the bytes of a model file are as documented") {
  const std::string file = written();
  CHECK(file.substr(0, 8) ==
        "\x89"
        "dynet\r\n");
  CHECK(get_number<std::uint32_t>(&file[8]) == 1);
  CHECK(get_number<std::uint32_t>(&file[12]) == 0);
  CHECK(get_number<std::uint64_t>(&file[16]) == file.size());
  const auto index_size = get_number<std::uint64_t>(&file[24]);
  const std::string index = file.substr(64, index_size);
  CHECK(get_number<std::uint64_t>(&file[32]) == checksum(index));
  CHECK(file.substr(40, 16) == std::string(16, '\0'));
  CHECK(get_number<std::uint64_t>(&file[56]) == checksum(file.substr(0, 56)));

  std::size_t at = 0;
  const auto number = [&] {
    at += 8;
    return get_number<std::uint64_t>(&index[at - 8]);
  };
  const auto text = [&] {
    const auto n = number();
    at += n;
    return index.substr(at - n, n);
  };
  std::size_t next = 0, end = 64 + index_size;
  const auto section = [&](std::uint64_t offset, std::uint64_t sum) {
    const std::string& bytes = kData[next++];
    CHECK(offset == (end + 63) / 64 * 64);
    CHECK(file.substr(end, offset - end) == std::string(offset - end, '\0'));
    CHECK(file.substr(offset, bytes.size()) == bytes);
    CHECK(sum == checksum(bytes));
    end = offset + bytes.size();
  };
  const FileIndex e = example();
  REQUIRE(number() == e.things.size());
  for (const SavedThing& t : e.things) {
    CHECK(text() == t.kind);
    const auto offset = number();
    CHECK(number() == kData[next].size());
    section(offset, number());
  }
  REQUIRE(number() == e.groups.size());
  for (const SavedGroup& g : e.groups) {
    CHECK(text() == g.kind);
    REQUIRE(number() == g.numbers.size());
    for (const auto& [name, x] : g.numbers) {
      CHECK(text() == name);
      CHECK(std::bit_cast<double>(number()) == x);
    }
    REQUIRE(number() == g.tensors.size());
    for (const SavedTensor& t : g.tensors) {
      CHECK(text() == t.name);
      CHECK(number() == t.array);
      CHECK(number() == (t.is_lookup ? 1u : 0u) + (t.updated ? 2u : 0u));
      CHECK(number() == t.rows);
      REQUIRE(number() == t.sizes.size());
      for (const std::uint64_t n : t.sizes) CHECK(number() == n);
      const auto offset = number();
      section(offset, number());
    }
  }
  CHECK(at == index.size());
  CHECK(end == file.size());
}

TEST_CASE("an index comes back") {
  MemoryFile files;
  files.bytes = written();
  const ModelFile file("m", &files);
  CHECK(encode_index(file.index()).size() == encode_index(example()).size());
  std::size_t next = 0;
  for (const SavedThing& t : file.index().things) CHECK(file.read(t.data) == kData[next++]);
  for (const SavedGroup& g : file.index().groups)
    for (const SavedTensor& t : g.tensors) CHECK(file.read(t.data) == kData[next++]);
  CHECK(next == kData.size());
  CHECK(refused(files.bytes).empty());
  CHECK(refused(file_with(file.index())).empty());  // what the lies below start from
}

TEST_CASE("every changed byte and bit of a file is noticed") {
  const std::string good = written();
  std::size_t count = 0;
  for (std::size_t i = 0; i < good.size(); ++i)
    for (int flip : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      const std::string message = refused(bad);
      INFO(i << " " << message);
      REQUIRE(message.find(i < 8    ? "it is not a model file"
                           : i < 64 ? "the checksum of its header is wrong"
                                    : "the file was damaged or altered") != std::string::npos);
      ++count;
    }
  std::printf("%zu changes of one byte, all noticed\n", count);
}

TEST_CASE("a file cut at any length is refused") {
  const std::string good = written();
  for (std::size_t n = 0; n < good.size(); ++n)
    REQUIRE(refused(good.substr(0, n)) ==
            "cannot load m: the file is cut short: " + std::to_string(n < 64 ? 64 : good.size()) +
                " bytes expected, " + std::to_string(n) + " found");
  CHECK(refused(good + "xyz") == "cannot load m: 3 bytes follow after the end of the model");
}

TEST_CASE("headers that lie under a right checksum are refused, each with its reason") {
  const FileIndex good = [] {
    MemoryFile files;
    files.bytes = written();
    return ModelFile("m", &files).index();
  }();
  std::set<std::string> messages;
  std::size_t count = 0;
  const auto check = [&](const std::string& file, const std::string& why) {
    const std::string message = refused(file);
    CHECK_THAT(message, Catch::Contains(why));
    CHECK(messages.insert(message).second);
    ++count;
  };
  // Eight bytes of the header.
  const auto header = [&](std::size_t at, std::uint64_t x, std::size_t n, const std::string& why) {
    std::string file = written();
    for (std::size_t i = 0; i < n; ++i) file[at + i] = static_cast<char>(x >> (8 * i));
    std::string sum;
    append_number(sum, checksum(file.substr(0, 56)));
    check(file.replace(56, 8, sum), why);
  };
  const std::uint64_t size = written().size(), huge = std::numeric_limits<std::uint64_t>::max();
  header(0, 0, 1, "not a model file");
  header(8, 0, 4, "version 0, which never was");
  header(8, 2, 4, "version 2 without need");
  header(8, 3, 4, "version 3, made by a newer library");
  header(8, 0xffffffff, 4, "version 4294967295");
  header(12, 1, 4, "bytes that mean nothing");
  header(16, huge, 8, "18446744073709551615 bytes expected");
  header(16, size + 1, 8, std::to_string(size + 1) + " bytes expected");
  header(16, size - 1, 8, "1 bytes follow");
  header(16, 0, 8, std::to_string(size) + " bytes follow");
  header(24, huge, 8, "the index is said to have 18446744073709551615 bytes");
  header(24, size - 63, 8, "the index is said to have " + std::to_string(size - 63));
  header(24, 0, 8, "bytes from byte");

  // The index as numbers.
  const auto index = [&](const std::function<void(FileIndex&)>& lie, const std::string& why) {
    FileIndex i = good;
    lie(i);
    check(file_with(i), why);
  };
  const auto whole = [&](const std::function<void(SavedTensor&)>& lie, const std::string& why) {
    index([&](FileIndex& i) { lie(i.groups[0].tensors[0]); }, why);
  };
  const auto table = [&](const std::function<void(SavedTensor&)>& lie, const std::string& why) {
    index([&](FileIndex& i) { lie(i.groups[0].tensors[2]); }, why);
  };
  whole([](auto& t) { t.data.offset += 64; }, "tensor /W is said to begin at byte");
  whole([](auto& t) { t.data.offset -= 64; }, "tensor /W is said to begin at byte");
  whole([](auto& t) { t.data.offset += 1; }, "tensor /W is said to begin at byte");
  whole([](auto& t) { t.data.offset = 0; }, "tensor /W is said to begin at byte 0,");
  whole([=](auto& t) { t.data.offset = huge; }, "byte 18446744073709551615, not at");
  whole([](auto& t) { t.sizes = {3, 12}; }, "tensor /sub/b is said to begin");
  whole([](auto& t) { t.sizes = {100000, 100000}; }, "tensor /W is said to have 40000000000 bytes");
  whole([](auto& t) { t.sizes = {0xffffffff, 0xffffffff}; }, "more values than can be counted");
  whole([](auto& t) { t.sizes = {0x100000000}; }, "a size of 4294967296");
  whole([=](auto& t) { t.sizes = {huge}; }, "a size of 18446744073709551615");
  whole([](auto& t) { t.sizes = std::vector<std::uint64_t>(8, 1); }, "has 8 sizes");
  whole([](auto& t) { t.sizes = std::vector<std::uint64_t>(100, 1); }, "has 100 sizes");
  whole([](auto& t) { t.sizes = {1, 1, 1, 1, 1, 1, 1, 1, 13}; }, "9 sizes");
  whole([](auto& t) { t.name = "W"; }, "does not begin with /");
  whole([](auto& t) { t.name = ""; }, "the name of a tensor is empty");
  whole([](auto& t) { t.name = "/sub/b"; }, "");
  whole([](auto& t) { t.array = 1; }, "is array 1 of a parameter");
  whole([](auto& t) { t.rows = 2; }, "is no table and has rows");
  whole([](auto& t) { t.data.checksum ^= 1; }, "bytes from byte");
  table([](auto& t) { t.rows = 0x100000000; }, "/E has a size of 4294967296");
  table([](auto& t) { t.rows = 40; }, "/E is said to have 320 bytes");
  table([](auto& t) { t.rows = 0xffffffff; }, "/E is said to have 34359738360 bytes");
  table([](auto& t) { t.sizes = std::vector<std::uint64_t>(7, 1); }, "/E has 7 sizes");
  table([](auto& t) { t.sizes = {0xffffffff, 0xffffffff}; }, "/E has more values");
  table([](auto& t) { t.name = "/W"; }, "tensor /W comes twice");
  table([](auto& t) { t.is_lookup = false; }, "/E is no table and has rows");
  const auto thing = [&](const std::function<void(SavedThing&)>& lie, const std::string& why) {
    index([&](FileIndex& i) { lie(i.things[1]); }, why);
  };
  thing([](auto& t) { t.kind = ""; }, "the kind of a thing is empty");
  thing([=](auto& t) { t.data.size = huge; },
        "thing 2 (Dict) is said to have 18446744073709551615");
  thing([=](auto& t) { t.data.size = size; }, "thing 2 (Dict) is said to have");
  thing([](auto& t) { t.data.size = 65; }, "tensor /W is said to begin");
  thing([](auto& t) { t.data.offset -= 64; }, "thing 2 (Dict) is said to begin");
  thing([](auto& t) { t.data.size = 63; }, "the checksum of its 63 bytes");
  index([](auto& i) { i.groups[0].kind = ""; }, "the kind of a group is empty");
  index([](auto& i) { i.groups[2].kind = "LookupParameter"; }, "tensor /p is no LookupParameter");
  index([](auto& i) { i.groups[1].kind = "ParameterCollection"; }, "has no path for a name");
  index([](auto& i) { i.groups[1].kind = "Parameter"; }, "a Parameter has no settings");
  index([](auto& i) { i.groups[0].kind = "LookupParameter"; }, "a LookupParameter has no settings");
  index([](auto& i) { i.groups[0].numbers["/"] = 1; }, "weight decay of / is not below 1");
  index([](auto& i) { i.groups[0].numbers["/sub/"] = std::nan(""); }, "weight decay of /sub/");
  index([](auto& i) { i.groups[0].numbers["sub"] = 0; }, "the collection sub has no path");
  index([](auto& i) { i.groups[2].tensors.clear(); }, "a Parameter is one tensor");
  index([](auto& i) { i.groups.pop_back(); }, "the sections end at byte");
  index([](auto& i) { i.things.pop_back(); }, "tensor /W is said to begin");
  index([](auto& i) { i.groups.clear(); }, "the sections end at byte");

  {  // A setting that comes twice.
    FileIndex i = good;
    i.groups[0].numbers["/sua/"] = 0.5;
    const std::string file = file_with(i), theirs = file.substr(64, encode_index(i).size());
    std::string index_bytes = theirs;
    index_bytes.replace(index_bytes.find("/sua/"), 5, "/sub/");
    check(encode_header(file.size(), index_bytes) + index_bytes +
              file.substr(64 + index_bytes.size()),
          "the setting /sub/ is out of order");
  }

  // The index as bytes: a count or a length at a place.
  const std::string encoded = encode_index(good);
  const auto raw = [&](std::size_t at, std::uint64_t x, const std::string& why) {
    std::string index_bytes = encoded, eight;
    append_number(eight, x);
    index_bytes.replace(at, 8, eight);
    const std::string rest = written().substr(64 + encoded.size());
    check(encode_header(64 + encoded.size() + rest.size(), index_bytes) + index_bytes + rest, why);
  };
  const auto place = [&](const std::string& text) { return encoded.find(text); };
  raw(0, huge, "no room for 18446744073709551615 things");
  raw(0, 1000, "no room for 1000 things");
  raw(0, 3, "");
  raw(8, huge, "within the kind of a thing of 18446744073709551615 bytes");
  raw(8, 100000, "within the kind of a thing of 100000 bytes");
  const std::size_t groups = place("Dict") + 4 + 24;
  raw(groups, huge, "no room for 18446744073709551615 groups");
  raw(groups, 99, "no room for 99 groups");
  raw(groups, 2, "bytes of the index are left over");
  raw(groups + 8, 1000000, "within the kind of a group of 1000000 bytes");
  const std::size_t settings = groups + 16 + 19;
  raw(settings, huge, "no room for 18446744073709551615 settings");
  raw(settings, 500, "no room for 500 settings");
  raw(place("/sub/") - 8, 77777, "within the name of a setting of 77777 bytes");
  const std::size_t tensors = place("/sub/") + 5 + 8;
  raw(tensors, huge, "no room for 18446744073709551615 tensors");
  raw(tensors, 300, "no room for 300 tensors");
  raw(tensors + 8, 5000, "within the name of a tensor of 5000 bytes");
  raw(tensors + 18 + 8, 8, "/W has unknown flags");
  raw(tensors + 18 + 8, 4, "tensors have 8 bits, which version 1 does not know");
  raw(tensors + 18 + 24, 0xffffffffffff, "/W has 281474976710655 sizes");
  std::printf("%zu lies, %zu different reasons\n", count, messages.size());
  CHECK(count >= 60);
}

}  // namespace model_file_test
