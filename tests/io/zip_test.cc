// Archives of arrays that lie: checksums, places, sizes, one thing at a time and all else right.

#include "dynet-like/io/zip.h"

#include <zlib.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/io/bytes.h"
#include "dynet-like/io/numpy.h"
#include "tests/io/file_systems.h"
#include "tests/io/folder.h"
#include "tests/support/catch.h"

namespace zip_test {

using namespace dynet;
using io_detail::append_number;

namespace {

std::uint32_t crc_of(const std::string& bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string deflated(const std::string& bytes) {
  z_stream z = {};
  REQUIRE(deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(bytes.size() + 1000, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  REQUIRE(::deflate(&z, Z_FINISH) == Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string array(const std::vector<float>& values) {
  const TemporaryFolder folder;
  NamedTensor t;
  t.shape = {values.size()};
  t.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * 4);
  write_npy(folder / "a", t);
  return read_file(folder / "a");
}

// A member as its own header and the directory tell of it; a test changes one of the two.
struct Member {
  std::string name, packed, local_name, local_extra, extra;
  std::uint16_t method = 0, local_method = 0, flags = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed_size = 0, size = 0, shift = 0;  // shift of its place in the directory

  Member(const std::string& n, const std::string& bytes, bool deflate = false)
      : name(n),
        packed(deflate ? deflated(bytes) : bytes),
        local_name(n),
        crc(crc_of(bytes)),
        packed_size(packed.size()),
        size(bytes.size()) {
    method = local_method = deflate ? 8 : 0;
  }
};

// The last record of an archive; a test changes one of its numbers.
struct End {
  std::uint16_t disk = 0, first_disk = 0, more = 0;
  std::int64_t size = 0, offset = 0;
  std::string comment = {};
};

std::string archive(const std::vector<Member>& members, const End& end = {}) {
  std::string bytes, directory;
  const auto common = [](std::string& to, const Member& m, std::uint16_t method,
                         const std::string& name, const std::string& extra) {
    append_number(to, std::uint16_t{20});
    append_number(to, m.flags);
    append_number(to, method);
    append_number(to, std::uint32_t{0});
    append_number(to, m.crc);
    append_number(to, static_cast<std::uint32_t>(m.packed_size));
    append_number(to, static_cast<std::uint32_t>(m.size));
    append_number(to, static_cast<std::uint16_t>(name.size()));
    append_number(to, static_cast<std::uint16_t>(extra.size()));
  };
  for (const Member& m : members) {
    append_number(directory, std::uint32_t{0x02014b50});
    append_number(directory, std::uint16_t{20});
    common(directory, m, m.method, m.name, m.extra);
    append_number(directory, std::uint64_t{0});
    append_number(directory, std::uint16_t{0});
    append_number(directory, static_cast<std::uint32_t>(bytes.size() + m.shift));
    directory += m.name + m.extra;
    append_number(bytes, std::uint32_t{0x04034b50});
    common(bytes, m, m.local_method, m.local_name, m.local_extra);
    bytes += m.local_name + m.local_extra + m.packed;
  }
  const std::uint64_t offset = bytes.size();
  bytes += directory;
  append_number(bytes, std::uint32_t{0x06054b50});
  append_number(bytes, end.disk);
  append_number(bytes, end.first_disk);
  const auto count = static_cast<std::uint16_t>(members.size() + end.more);
  append_number(bytes, count);
  append_number(bytes, count);
  append_number(bytes,
                static_cast<std::uint32_t>(static_cast<std::int64_t>(directory.size()) + end.size));
  append_number(bytes, static_cast<std::uint32_t>(static_cast<std::int64_t>(offset) + end.offset));
  append_number(bytes, static_cast<std::uint16_t>(end.comment.size()));
  return bytes + end.comment;
}

std::vector<NamedTensor> read(const std::string& bytes) {
  MemoryFile files;
  files.bytes = bytes;
  return read_npz("m", &files);
}

std::string refused(const std::string& bytes) {
  return message_of<FileError>([&] { read(bytes); });
}

const std::vector<float> kFirst = {1, 2, 3}, kSecond = {4, 5, 6, 7};

// Two members, one packed; `change` makes one of them a lie.
std::string lying(const std::function<void(Member& stored, Member& packed)>& change,
                  const End& end = {}) {
  std::vector<Member> m = {{"a.npy", array(kFirst)}, {"b.npy", array(kSecond), true}};
  change(m[0], m[1]);
  return archive(m, end);
}

void truth(Member&, Member&) {}

}  // namespace

TEST_CASE("archives made by hand are read") {
  for (const std::string& bytes :
       {lying(truth), lying(truth, {.comment = "PK\5\6 in a comment"}),
        lying([](Member&a, Member&) { a.local_extra = std::string("\x99\x99\2\0xx", 6); }),
        lying([](Member&a, Member&) { a.extra = std::string("\1\0\0\0", 4); })}) {
    const std::vector<NamedTensor> all = read(bytes);
    REQUIRE(all.size() == 2);
    CHECK(all[0].name == "a");
    CHECK(to_floats(all[0]) == kFirst);
    CHECK(to_floats(all[1]) == kSecond);
  }
}

TEST_CASE("a member of an archive with another checksum is refused") {
  for (const bool packed : {false, true})
    for (int bit = 0; bit < 32; ++bit) {
      const auto message = refused(
          lying([&](Member& a, Member& b) { (packed ? b : a).crc ^= std::uint32_t{1} << bit; }));
      CHECK(message == std::string("cannot load m: it is no sound zip archive: the checksum of ") +
                           (packed ? "b" : "a") + ".npy is wrong");
    }
}

TEST_CASE("every changed byte of a member's data is noticed") {
  const TemporaryFolder folder;
  NamedTensor t;
  t.name = "x";
  t.shape = {5};
  t.bytes = std::string("\0\0\x80\x3f\1\2\3\4\5\6\7\x08\x09\x0a\x0b\x0c\0\0\0\0", 20);
  write_npz(folder / "m", {t});
  const std::string ours = read_file(folder / "m"), hand = lying(truth);
  std::size_t count = 0;
  const std::string both[] = {ours, hand};
  for (const std::string& good : both) {
    // All bytes before the directory that belong to an array: its header and its values.
    const std::size_t end = good.find("PK\1\2");
    for (std::size_t i = good.find("\x93NUMPY"); i < end; ++i) {
      if (good.substr(i, 4) == "PK\3\4") i += 30 + 5;
      for (const int flip : {1, 16, 128, 255}) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ flip);
        INFO(i);
        // Some bits behind the end of packed data mean nothing.
        if (!refused(bad).empty())
          ++count;
        else
          REQUIRE((&good == &both[1] && read(bad)[1].bytes == read(good)[1].bytes &&
                   read(bad)[0].bytes == read(good)[0].bytes));
      }
    }
  }
  CHECK(count > 1000);
}

TEST_CASE("members of an archive that share bytes are refused") {
  const std::string a = array(kFirst), b = array(kSecond);
  const auto overlaps = [](const std::string& bytes) {
    return refused(bytes).find("lie on each other") != std::string::npos;
  };
  // The second lies in the data of the first, with a header of its own there.
  std::string inner = archive({{"b.npy", b}});
  inner.resize(inner.find("PK\1\2"));
  Member outer("a.npy", a + inner), hidden("b.npy", b);
  std::string bytes = archive({outer});
  const std::size_t directory = bytes.find("PK\1\2");
  std::string second = archive({hidden});
  second = second.substr(second.find("PK\1\2"), 46 + 5);
  const auto place = static_cast<std::uint32_t>(bytes.find("PK\3\4", 4));
  for (int i = 0; i < 4; ++i)
    second[42 + static_cast<std::size_t>(i)] = static_cast<char>(place >> (8 * i));
  std::string entry = bytes.substr(directory, 46 + 5);
  const auto end_of = [&](std::uint16_t count, std::size_t size) {
    std::string s;
    append_number(s, std::uint32_t{0x06054b50});
    append_number(s, std::uint32_t{0});
    append_number(s, count);
    append_number(s, count);
    append_number(s, static_cast<std::uint32_t>(size));
    append_number(s, static_cast<std::uint32_t>(directory));
    append_number(s, std::uint16_t{0});
    return s;
  };
  const std::string front = bytes.substr(0, directory);
  for (const std::string& entries : {entry + second, second + entry})
    CHECK(overlaps(front + entries + end_of(2, entries.size())));
  // Both are the same member under its one name: twice the name; or at the same place.
  CHECK(refused(front + entry + entry + end_of(2, 2 * entry.size())).find("comes twice") !=
        std::string::npos);
  // By the length of what lies before the data, which only the member's own header tells.
  Member first("a.npy", ""), next("b.npy", b);
  first.local_extra = std::string("\x99\x99", 2);
  append_number(first.local_extra, static_cast<std::uint16_t>(0));
  std::string plain = archive({first, next});
  REQUIRE(refused(plain).find("no .npy file") != std::string::npos);
  plain[28] = 40;  // reaches into the second
  CHECK(overlaps(plain));
}

TEST_CASE("archives that lie are refused, each with its reason") {
  using Lie = std::function<void(Member&, Member&)>;
  const std::pair<Lie, const char*> members[] = {
      {[](Member& a, Member&) { a.shift = 1; }, "a.npy is not where it is said to be"},
      {[](Member& a, Member&) { a.shift = 1u << 30; }, "a member is cut short"},
      {[](Member& a, Member&) { a.local_name = "c.npy"; }, "a.npy is another in the directory"},
      {[](Member& a, Member&) { a.local_method = 8; }, "a.npy is another in the directory"},
      {[](Member& a, Member&) { a.method = a.local_method = 12; }, "packed by method 12"},
      {[](Member& a, Member&) { a.size -= 1; }, "packed by method 0"},
      {[](Member& a, Member&) { a.flags = 1; }, "a.npy is encrypted"},
      {[](Member& a, Member&) { a.name = a.local_name = "b.npy"; }, "the member b.npy comes twice"},
      {[](Member& a, Member&) { a.name = a.local_name = "a.txt"; }, "member a.txt is no .npy file"},
      {[](Member& a, Member&) { a.name = a.local_name = "\x1b]0;\n"; },
       "member \\u{1b}]0;\\n is no .npy file"},
      {[](Member&, Member& b) { b.packed_size += 1; }, "b.npy is cut short"},
      {[](Member&, Member& b) { b.packed_size -= 1; }, "another size"},
      {[](Member&, Member& b) { b.size -= 1; }, "larger than it is said to be"},
      {[](Member&, Member& b) { b.size += 1; }, "another size"},
      {[](Member&, Member& b) { b.size = 0x7fffffff; }, "larger than it can be"},
      {[](Member& a, Member&) { a.size = a.packed_size = 0xffffffff; },
       "the ZIP64 numbers of a.npy are missing"},
      {[](Member& a, Member&) {
         a.size = 0xffffffff;
         a.extra = std::string("\1\0\xff\0", 4);
       },
       "the ZIP64 numbers of a.npy are missing"},
      {[](Member& a, Member&) {
         a.size = 0xffffffff;
         a.extra = std::string("\1\0\4\0\0\0\0\0", 8);
       },
       "the ZIP64 numbers of a.npy are missing"},
      {[](Member& a, Member&) {
         a.packed[7] = 1;
         a.crc = crc_of(a.packed);
       },
       "member a.npy: it has .npy version"},
  };
  for (const auto& [lie, why] : members) {
    const std::string message = refused(lying(lie));
    INFO(why << " / " << message);
    CHECK(message.find(why) != std::string::npos);
    CHECK(message.find("cannot load m: ") == 0);
  }
  const std::pair<End, const char*> ends[] = {
      {{.disk = 1}, "several disks"},
      {{.first_disk = 1}, "several disks"},
      {{.more = 1}, "its directory"},
      {{.more = 1000}, "no room for all members"},
      {{.more = 0xffff}, "its directory has another size"},
      {{.size = 1}, "its directory is not where it is said to be"},
      {{.size = -1}, "its directory is not where it is said to be"},
      {{.size = 1, .offset = -1}, "its directory is broken"},
      {{.offset = 1 << 30}, "its directory is not where it is said to be"},
  };
  for (const auto& [end, why] : ends) {
    const std::string message = refused(lying(truth, end));
    INFO(why << " / " << message);
    CHECK(message.find(why) != std::string::npos);
  }
  CHECK(refused(lying(truth) + "x").find("its end is missing") != std::string::npos);
  CHECK(refused("PK").find("it is too short") != std::string::npos);
  CHECK(refused(std::string(100000, 'P')).find("its end is missing") != std::string::npos);
}

TEST_CASE("the numbers of ZIP64 are read where the others are full, and not trusted") {
  const TemporaryFolder folder;
  NamedTensor t;
  t.name = "x";
  t.shape = {2};
  t.bytes = std::string(8, '\1');
  write_npz(folder / "m", {t});
  const std::string good = read_file(folder / "m");
  CHECK(read(good).size() == 1);
  const std::size_t end = good.size() - 22, locator = end - 20, end64 = locator - 56;
  const auto with = [&](std::size_t at, std::uint64_t x) {
    std::string bad = good, number;
    append_number(number, x);
    return refused(bad.replace(at, 8, number));
  };
  CHECK(with(locator + 8, end64 + 1).find("its ZIP64 end is missing") != std::string::npos);
  CHECK(with(locator + 8, good.size()).find("its ZIP64 end is cut short") != std::string::npos);
  CHECK(with(locator + 8, ~std::uint64_t{0}).find("its ZIP64 end is cut short") !=
        std::string::npos);
  CHECK(with(end64 + 32, 2).find("no room for all members") != std::string::npos);
  CHECK(with(end64 + 40, ~std::uint64_t{0}).find("not where it is said to be") !=
        std::string::npos);
  CHECK(with(end64 + 48, ~std::uint64_t{0}).find("not where it is said to be") !=
        std::string::npos);
  // Of a packed member: its size is not that of its bytes.
  Member packed("b.npy", array(kSecond), true);
  packed.extra = std::string("\1\0\x10\0", 4);
  append_number(packed.extra, packed.size);
  append_number(packed.extra, packed.packed_size);
  packed.size = packed.packed_size = 0xffffffff;
  const std::vector<NamedTensor> all = read(archive({packed}));
  REQUIRE(all.size() == 1);
  CHECK(to_floats(all[0]) == kSecond);
  // In the directory, behind the name: size, packed size, place.
  const std::size_t numbers = good.find("PK\1\2") + 46 + 5 + 4;
  for (const std::size_t at : {numbers, numbers + 8, numbers + 16})
    for (const std::uint64_t x : {std::uint64_t{0}, std::uint64_t{1} << 40, ~std::uint64_t{0}})
      if (x != 0 || at != numbers + 16) CHECK_FALSE(with(at, x).empty());
}

TEST_CASE("a packed member of more than one piece is read, in either direction of lying") {
  std::vector<float> values(300000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7);
  const std::string bytes = array(values), packed = deflated(bytes);
  CHECK(io_detail::inflate(packed, bytes.size()) == bytes);
  CHECK_THROWS_AS(io_detail::inflate(packed, bytes.size() - 1), FileError);
  CHECK_THROWS_AS(io_detail::inflate(packed, bytes.size() + 1), FileError);
  CHECK_THROWS_AS(io_detail::inflate(packed, 1 << 16), FileError);
  CHECK(io_detail::inflate(deflated(""), 0).empty());
  CHECK_THROWS_AS(io_detail::inflate(packed, 0), FileError);
}

}  // namespace zip_test
