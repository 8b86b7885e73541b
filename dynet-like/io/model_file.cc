#include "dynet-like/io/model_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <set>

#include "dynet-like/base/errors.h"
#include "dynet-like/io/bytes.h"
#include "dynet-like/io/checksum.h"
#include "dynet-like/io/int8_tensors.h"

namespace dynet {
namespace {

using io_detail::append_number;
using io_detail::get_number;

constexpr std::string_view kMagic(
    "\x89"
    "dynet\r\n",
    8);
constexpr std::size_t kHeaderSize = 64, kSummed = 56, kPiece = std::size_t{1} << 20;
constexpr std::uint64_t kAlignment = 64, kMostElements = std::uint64_t{1} << 60;
constexpr std::uint64_t kLookup = 1, kUpdated = 2, kInt8 = 4;

std::uint64_t aligned(std::uint64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

void append_text(std::string& bytes, std::string_view text) {
  append_number(bytes, std::uint64_t{text.size()});
  bytes += text;
}

// Parses an index.
class IndexReader {
 public:
  IndexReader(std::string_view bytes, std::uint64_t begin, std::uint64_t end)
      : bytes_(bytes), at_(begin), end_(end) {}

  [[noreturn]] static void fail(const std::string& why) { throw FileError(why); }
  static void need(bool holds, const std::string& why) {
    if (!holds) fail(why);
  }

  std::uint64_t number(const char* what) { return get_number<std::uint64_t>(take(8, what).data()); }
  // A number of entries, each of at least `least` bytes.
  std::uint64_t count(const char* what, std::uint64_t least) {
    const std::uint64_t n = number(what);
    need(n <= bytes_.size() / least, "the index has no room for " + std::to_string(n) + " " + what);
    return n;
  }
  std::string text(const char* what) {
    const std::uint64_t n = number(what);
    need(n > 0, std::string(what) + " is empty");
    return std::string(take(n, what));
  }
  Section section(const std::string& whose, std::uint64_t offset, std::uint64_t size) {
    need(offset == aligned(at_), whose + " is said to begin at byte " + std::to_string(offset) +
                                     ", not at " + std::to_string(aligned(at_)));
    need(offset <= end_ && size <= end_ - offset,
         whose + " is said to have " + std::to_string(size) + " bytes from byte " +
             std::to_string(offset) + ", but the file has " + std::to_string(end_));
    at_ = offset + size;
    return {number_++, offset, size, number("a checksum")};
  }
  void finish() {
    need(bytes_.empty(), std::to_string(bytes_.size()) + " bytes of the index are left over");
    need(at_ == end_, "the sections end at byte " + std::to_string(at_) + ", the file at " +
                          std::to_string(end_));
  }

 private:
  std::string_view take(std::uint64_t n, const char* what) {
    need(n <= bytes_.size(),
         std::string("the index ends within ") + what + " of " + std::to_string(n) + " bytes");
    const std::string_view taken = bytes_.substr(0, n);
    bytes_.remove_prefix(n);
    return taken;
  }

  std::string_view bytes_;
  std::uint64_t at_, end_, number_ = 0;
};

SavedTensor read_tensor(IndexReader& in) {
  SavedTensor t;
  t.name = in.text("the name of a tensor");
  const std::string whose = "tensor " + t.name;
  in.need(t.name[0] == '/', whose + " has a name that does not begin with /");
  t.array = in.number("the array of a tensor");
  const std::uint64_t flags = in.number("the flags of a tensor");
  in.need(flags <= (kLookup | kUpdated | kInt8), whose + " has unknown flags");
  t.is_lookup = flags & kLookup;
  t.updated = flags & kUpdated;
  t.is_int8 = flags & kInt8;
  t.rows = in.number("the rows of a tensor");
  in.need(t.is_lookup || t.rows == 1, whose + " is no table and has rows");
  const std::uint64_t rank = in.number("the rank of a tensor");
  in.need(rank + t.is_lookup <= kMaxTensorDim && rank <= kMaxTensorDim,
          whose + " has " + std::to_string(rank) + " sizes");
  for (std::uint64_t i = 0; i < rank; ++i) t.sizes.push_back(in.number("a size of a tensor"));
  std::vector<std::uint64_t> all = t.sizes;
  all.push_back(t.rows);
  bool empty = false;
  for (const std::uint64_t n : all) {
    in.need(n <= 0xffffffffu, whose + " has a size of " + std::to_string(n));
    empty |= n == 0;
  }
  std::uint64_t count = 1;
  for (const std::uint64_t n : all) {
    in.need(empty || n <= kMostElements / count, whose + " has more values than can be counted");
    count = empty ? 0 : count * n;
  }
  in.need(!t.is_int8 || can_be_int8(t), whose + " cannot have 8 bits");
  const std::uint64_t offset = in.number("the offset of a tensor");
  t.data = in.section(whose, offset, byte_count(t));
  return t;
}

bool is_path(const std::string& s) { return s.front() == '/' && s.back() == '/'; }

SavedGroup read_group(IndexReader& in) {
  SavedGroup g;
  g.kind = in.text("the kind of a group");
  const bool collection = g.kind == "ParameterCollection";
  const bool single = g.kind == "Parameter" || g.kind == "LookupParameter";
  const std::uint64_t numbers = in.count("settings", 17);
  for (std::uint64_t i = 0; i < numbers; ++i) {
    const std::string name = in.text("the name of a setting");
    in.need(g.numbers.empty() || g.numbers.rbegin()->first < name,
            "the setting " + name + " is out of order");
    const double x = std::bit_cast<double>(in.number("the value of a setting"));
    in.need(!single, "a " + g.kind + " has no settings");
    in.need(!collection || is_path(name), "the collection " + name + " has no path for a name");
    in.need(!collection || x < 1, "the weight decay of " + name + " is not below 1");
    g.numbers[name] = x;
  }
  const std::uint64_t tensors = in.count("tensors", 57);
  in.need(!single || tensors == 1, "a " + g.kind + " is one tensor");
  std::set<std::pair<std::string, std::uint64_t>> seen;
  for (std::uint64_t i = 0; i < tensors; ++i) {
    SavedTensor t = read_tensor(in);
    in.need(seen.emplace(t.name, t.array).second, "tensor " + t.name + " comes twice");
    in.need(t.array == 0 || (!collection && !single),
            "tensor " + t.name + " is array " + std::to_string(t.array) + " of a parameter");
    in.need(!single || t.is_lookup == (g.kind == "LookupParameter"),
            "tensor " + t.name + " is no " + g.kind);
    g.tensors.push_back(std::move(t));
  }
  return g;
}

bool has_int8(const FileIndex& index) {
  for (const SavedGroup& g : index.groups)
    for (const SavedTensor& t : g.tensors)
      if (t.is_int8) return true;
  return false;
}

template <class Index, class Visit>
void for_each_section(Index& index, Visit visit) {
  for (auto& t : index.things) visit(t.data);
  for (auto& g : index.groups)
    for (auto& t : g.tensors) visit(t.data);
}

}  // namespace

std::uint64_t SavedTensor::count() const {
  std::uint64_t n = rows;
  for (const std::uint64_t s : sizes) n *= s;
  return n;
}

Dim SavedTensor::dim() const { return Dim(std::vector<long>(sizes.begin(), sizes.end())); }

std::string encode_index(const FileIndex& index) {
  std::string bytes;
  append_number(bytes, std::uint64_t{index.things.size()});
  for (const SavedThing& t : index.things) {
    append_text(bytes, t.kind);
    for (const std::uint64_t x : {t.data.offset, t.data.size, t.data.checksum})
      append_number(bytes, x);
  }
  append_number(bytes, std::uint64_t{index.groups.size()});
  for (const SavedGroup& g : index.groups) {
    append_text(bytes, g.kind);
    append_number(bytes, std::uint64_t{g.numbers.size()});
    for (const auto& [name, x] : g.numbers) {
      append_text(bytes, name);
      append_number(bytes, std::bit_cast<std::uint64_t>(x));
    }
    append_number(bytes, std::uint64_t{g.tensors.size()});
    for (const SavedTensor& t : g.tensors) {
      append_text(bytes, t.name);
      const std::uint64_t flags =
          (t.is_lookup ? kLookup : 0) | (t.updated ? kUpdated : 0) | (t.is_int8 ? kInt8 : 0);
      for (const std::uint64_t x : {t.array, flags, t.rows, std::uint64_t{t.sizes.size()}})
        append_number(bytes, x);
      for (const std::uint64_t x : t.sizes) append_number(bytes, x);
      append_number(bytes, t.data.offset);
      append_number(bytes, t.data.checksum);
    }
  }
  return bytes;
}

FileIndex decode_index(std::string_view bytes, std::uint64_t begin, std::uint64_t end) {
  IndexReader in(bytes, begin, end);
  FileIndex index;
  const std::uint64_t things = in.count("things", 33);
  for (std::uint64_t i = 0; i < things; ++i) {
    SavedThing t;
    t.kind = in.text("the kind of a thing");
    const std::uint64_t offset = in.number("the offset of a thing");
    const std::uint64_t size = in.number("the size of a thing");
    t.data = in.section("thing " + std::to_string(i + 1) + " (" + t.kind + ")", offset, size);
    index.things.push_back(std::move(t));
  }
  const std::uint64_t groups = in.count("groups", 25);
  for (std::uint64_t i = 0; i < groups; ++i) index.groups.push_back(read_group(in));
  in.finish();
  return index;
}

std::string encode_header(std::uint64_t file_size, std::string_view index, std::uint32_t version) {
  std::string header(kMagic);
  append_number(header, version);
  append_number(header, std::uint32_t{0});
  append_number(header, file_size);
  append_number(header, std::uint64_t{index.size()});
  append_number(header, checksum(index));
  header.resize(kSummed);
  append_number(header, checksum(header));
  return header;
}

void write_model_file(const std::string& path, FileIndex index,
                      const std::vector<std::string_view>& data, const SaveOptions& options) {
  std::uint64_t at = kHeaderSize + encode_index(index).size();
  auto bytes = data.begin();
  for_each_section(index, [&](Section& s) {
    s = {0, aligned(at), bytes->size(), checksum(*bytes)};
    at = s.offset + s.size;
    ++bytes;
  });
  const std::string encoded = encode_index(index);
  NewFile file(path, options.files);
  file.write(encode_header(at, encoded, has_int8(index) ? 2 : 1));
  file.write(encoded);
  std::uint64_t written = kHeaderSize + encoded.size();
  for (const std::string_view section : data) {
    file.write(std::string(aligned(written) - written, '\0'));
    file.write(section);
    written = aligned(written) + section.size();
  }
  file.commit();
}

ModelFile::ModelFile(const std::string& path, const FileSystem* files, bool map)
    : file_(path, files), bytes_(map ? file_.map() : nullptr) {
  std::string header(std::min<std::uint64_t>(kHeaderSize, file_.size()), '\0');
  file_.read(0, header.data(), header.size());
  if (header.starts_with("#Parameter#") || header.starts_with("#LookupParameter#"))
    fail("it is a text file of DyNet 2, which TextFileLoader and `dynet-like convert` read");
  if (header.starts_with("22 serialization::archive"))
    fail(
        "it is an archive of Boost, such as DyNet 1 wrote, which only the program that wrote it "
        "can "
        "read; let that save it by DyNet 2's TextFileSaver");
  if (!kMagic.starts_with(header.substr(0, kMagic.size())))
    fail("it is not a model file of this library");
  const auto cut_short = [&](std::uint64_t want) {
    fail("the file is cut short: " + std::to_string(want) + " bytes expected, " +
         std::to_string(file_.size()) + " found");
  };
  if (header.size() < kHeaderSize) cut_short(kHeaderSize);
  if (get_number<std::uint64_t>(&header[kSummed]) != checksum(header.substr(0, kSummed)))
    fail("the checksum of its header is wrong: the file was damaged or altered");
  const auto version = get_number<std::uint32_t>(&header[8]);
  if (version > kFormatVersion)
    fail("it has format version " + std::to_string(version) +
         ", made by a newer library; this one reads versions up to " +
         std::to_string(kFormatVersion));
  if (version == 0) fail("it has format version 0, which never was");
  version_ = version;
  const auto size = get_number<std::uint64_t>(&header[16]);
  const auto index_size = get_number<std::uint64_t>(&header[24]);
  if (size > file_.size()) cut_short(size);
  if (size < file_.size())
    fail(std::to_string(file_.size() - size) + " bytes follow after the end of the model");
  if (get_number<std::uint32_t>(&header[12]) != 0 || header.find_first_not_of('\0', 40) < kSummed)
    fail("its header uses bytes that mean nothing in version 1");
  if (index_size > size - kHeaderSize)
    fail("the index is said to have " + std::to_string(index_size) + " bytes, the file has " +
         std::to_string(size));
  const Section where{0, kHeaderSize, index_size, get_number<std::uint64_t>(&header[32])};
  io_detail::with_memory("load", path, [&] {
    const std::string bytes = read(where);
    try {
      index_ = decode_index(bytes, kHeaderSize + index_size, size);
      if ((version == 2) != has_int8(index_))
        throw FileError(version == 2 ? "it is of version 2 without need"
                                     : "tensors have 8 bits, which version 1 does not know");
    } catch (const FileError& e) {
      fail(std::string("its index is wrong: ") + e.what());
    }
  });
}

// `destination(n)` returns the address for the next n bytes.
template <class Destination>
void ModelFile::check(const Section& section, Destination destination) const {
  Checksum sum;
  for (std::uint64_t done = 0; done < section.size;) {
    const std::size_t n = std::min<std::uint64_t>(kPiece, section.size - done);
    char* to = destination(n);
    file_.read(section.offset + done, to, n);
    sum.add({to, n});
    done += n;
  }
  confirm(section, sum.value());
}

void ModelFile::confirm(const Section& section, std::uint64_t sum) const {
  if (sum != section.checksum)
    fail("the checksum of its " + std::to_string(section.size) + " bytes from byte " +
         std::to_string(section.offset) + " is wrong: the file was damaged or altered");
  const std::uint64_t end = section.offset + section.size;
  char zeros[kAlignment];
  const std::size_t n = std::min(aligned(end), file_.size()) - end;
  file_.read(end, zeros, n);
  if (std::any_of(zeros, zeros + n, [](char c) { return c != 0; }))
    fail("there are bytes between its sections: the file was damaged or altered");
}

void ModelFile::read(const Section& section, char* to) const {
  check(section, [&](std::size_t n) {
    to += n;
    return to - n;
  });
}

std::string ModelFile::read(const Section& section) const {
  return io_detail::with_memory("load", path(), [&] {
    std::string bytes(section.size, '\0');
    read(section, bytes.data());
    return bytes;
  });
}

char* ModelFile::mapped(const Section& section, bool verified) const {
  char* bytes = bytes_.get() + section.offset;
  if (verified) confirm(section, checksum({bytes, static_cast<std::size_t>(section.size)}));
  return bytes;
}

std::string ModelFile::metadata() const {
  return index_.has_metadata() ? read(index_.things.back().data) : std::string();
}

void ModelFile::verify(const Section& section) const {
  const auto piece =
      std::make_unique_for_overwrite<char[]>(std::min<std::uint64_t>(kPiece, section.size));
  check(section, [&](std::size_t) { return piece.get(); });
}

void ModelFile::verify_all() const {
  for_each_section(index_, [this](const Section& s) { verify(s); });
}

}  // namespace dynet
