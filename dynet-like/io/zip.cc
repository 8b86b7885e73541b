#include "dynet-like/io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "dynet-like/base/errors.h"
#include "dynet-like/io/bytes.h"

namespace dynet::io_detail {
namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50,
                        kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr std::size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56,
                      kLocator64Size = 20, kMostRatio = 1040;
constexpr std::uint32_t kIn64 = 0xffffffff;  // the number is in the ZIP64 record

[[noreturn]] void broken(const std::string& why) {
  throw FileError("it is no sound zip archive: " + why);
}

std::uint32_t crc_of(std::string_view bytes) {
  const auto* first = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(::crc32_z(0, first, bytes.size()));
}

// Fields of a record at a place in the archive.
class Fields {
 public:
  Fields(std::string_view archive, std::uint64_t at, std::uint64_t size, const char* what) {
    if (at > archive.size() || size > archive.size() - at)
      broken(std::string(what) + " is cut short");
    bytes_ = archive.substr(at, size);
  }
  template <class Int>
  Int get(std::size_t at) const {
    return get_number<Int>(&bytes_[at]);
  }
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

struct Entry {
  std::string name;
  std::uint16_t flags, method;
  std::uint32_t crc;
  std::uint64_t packed, size, offset;
};

// The ZIP64 numbers take the places of those that are all ones, in this order.
void read_extra(std::string_view extra, Entry& e) {
  std::vector<std::uint64_t*> wanted;
  for (std::uint64_t* x : {&e.size, &e.packed, &e.offset})
    if (*x == kIn64) wanted.push_back(x);
  if (wanted.empty()) return;
  while (extra.size() >= 4) {
    const auto id = get_number<std::uint16_t>(&extra[0]);
    const std::size_t n = get_number<std::uint16_t>(&extra[2]);
    if (n > extra.size() - 4) break;
    if (id == 1 && n >= 8 * wanted.size()) {
      for (std::size_t i = 0; i < wanted.size(); ++i)
        *wanted[i] = get_number<std::uint64_t>(&extra[4 + 8 * i]);
      return;
    }
    extra.remove_prefix(4 + n);
  }
  broken("the ZIP64 numbers of " + e.name + " are missing");
}

struct Directory {
  std::uint64_t count, size, offset;
};

Directory find_directory(std::string_view a) {
  if (a.size() < kEndSize) broken("it is too short");
  const std::size_t least = a.size() - std::min<std::size_t>(a.size(), kEndSize + 0xffff);
  std::size_t at = a.size() - kEndSize;
  while (get_number<std::uint32_t>(&a[at]) != kEnd ||
         at + kEndSize + get_number<std::uint16_t>(&a[at + 20]) != a.size()) {
    if (at == least) broken("its end is missing");
    --at;
  }
  const Fields end(a, at, kEndSize, "its end");
  if (end.get<std::uint16_t>(4) != 0 || end.get<std::uint16_t>(6) != 0)
    broken("it has several disks");
  Directory d{end.get<std::uint16_t>(10), end.get<std::uint32_t>(12), end.get<std::uint32_t>(16)};
  std::uint64_t limit = at;
  const bool has64 =
      at >= kLocator64Size && get_number<std::uint32_t>(&a[at - kLocator64Size]) == kLocator64;
  if (has64) {
    const Fields locator(a, at - kLocator64Size, kLocator64Size, "its ZIP64 locator");
    limit = locator.get<std::uint64_t>(8);
    const Fields end64(a, limit, kEnd64Size, "its ZIP64 end");
    if (end64.get<std::uint32_t>(0) != kEnd64) broken("its ZIP64 end is missing");
    d = {end64.get<std::uint64_t>(32), end64.get<std::uint64_t>(40), end64.get<std::uint64_t>(48)};
  }
  if (d.offset > limit || d.size != limit - d.offset)
    broken("its directory is not where it is said to be");
  return d;
}

std::vector<Entry> read_directory(std::string_view a, const Directory& d) {
  std::vector<Entry> entries;
  if (d.count > d.size / kCentralSize) broken("its directory has no room for all members");
  std::uint64_t at = d.offset;
  std::set<std::string> seen;
  for (std::uint64_t i = 0; i < d.count; ++i) {
    const Fields f(a, at, kCentralSize, "its directory");
    if (f.get<std::uint32_t>(0) != kCentral) broken("its directory is broken");
    Entry e{{},
            f.get<std::uint16_t>(8),
            f.get<std::uint16_t>(10),
            f.get<std::uint32_t>(16),
            f.get<std::uint32_t>(20),
            f.get<std::uint32_t>(24),
            f.get<std::uint32_t>(42)};
    const std::size_t name = f.get<std::uint16_t>(28), extra = f.get<std::uint16_t>(30),
                      comment = f.get<std::uint16_t>(32);
    const Fields rest(a, at + kCentralSize, name + extra + comment, "its directory");
    e.name = rest.bytes().substr(0, name);
    read_extra(rest.bytes().substr(name, extra), e);
    if (!seen.insert(e.name).second) broken("the member " + e.name + " comes twice");
    if (e.flags & 1) broken("the member " + e.name + " is encrypted");
    at += kCentralSize + rest.bytes().size();
    entries.push_back(std::move(e));
  }
  if (at != d.offset + d.size) broken("its directory has another size");
  return entries;
}

ZipMember read_member(std::string_view a, const Entry& e, std::uint64_t limit) {
  const Fields f(a, e.offset, kLocalSize, "a member");
  if (f.get<std::uint32_t>(0) != kLocal)
    broken("the member " + e.name + " is not where it is said to be");
  const std::size_t name = f.get<std::uint16_t>(26), extra = f.get<std::uint16_t>(28);
  const Fields rest(a, e.offset + kLocalSize, name + extra, "a member");
  if (rest.bytes().substr(0, name) != e.name || f.get<std::uint16_t>(8) != e.method)
    broken("the member " + e.name + " is another in the directory");
  const std::uint64_t begin = e.offset + kLocalSize + name + extra;
  if (begin > limit || e.packed > limit - begin) broken("the member " + e.name + " is cut short");
  const std::string_view packed = a.substr(begin, e.packed);
  ZipMember m{e.name, {}};
  if (e.method == 0 && e.packed == e.size)
    m.bytes = packed;
  else if (e.method == 8)
    m.bytes = inflate(packed, e.size);
  else
    broken("the member " + e.name + " is packed by method " + std::to_string(e.method));
  if (crc_of(m.bytes) != e.crc) broken("the checksum of " + e.name + " is wrong");
  return m;
}

void append_extra64(std::string& bytes, std::initializer_list<std::uint64_t> numbers) {
  append_number(bytes, std::uint16_t{1});
  append_number(bytes, static_cast<std::uint16_t>(8 * numbers.size()));
  for (const std::uint64_t x : numbers) append_number(bytes, x);
}

// The fields that a member's own header and the directory have in common.
void append_common(std::string& bytes, std::uint32_t crc, std::size_t name, std::size_t extra) {
  append_number(bytes, std::uint16_t{45});                       // version that is needed
  append_number(bytes, std::uint32_t{0});                        // flags, method
  append_number(bytes, std::uint16_t{0});                        // time
  append_number(bytes, std::uint16_t{(0 << 9) | (1 << 5) | 1});  // 1980-01-01
  append_number(bytes, crc);
  append_number(bytes, kIn64);
  append_number(bytes, kIn64);
  append_number(bytes, static_cast<std::uint16_t>(name));
  append_number(bytes, static_cast<std::uint16_t>(extra));
}

}  // namespace

std::string inflate(std::string_view deflated, std::uint64_t size) {
  // Not taken on trust: each byte of input stands for at most 1032.
  if (size > (deflated.size() + 1) * kMostRatio)
    broken("a member is said to be larger than it can be");
  std::string bytes(size, '\0');
  char beyond;  // where a byte too many would go
  z_stream z = {};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) throw OutOfMemoryError("there is no memory for zlib");
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> end(&z, inflateEnd);
  constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
  std::size_t in = 0, out = 0;
  int r = Z_OK;
  while (r == Z_OK) {
    const std::size_t some_in = std::min(deflated.size() - in, kMost),
                      some_out = std::min(bytes.size() - out, kMost);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(deflated.data() + in));  // only read
    z.avail_in = static_cast<uInt>(some_in);
    z.next_out = reinterpret_cast<Bytef*>(some_out > 0 ? bytes.data() + out : &beyond);
    z.avail_out = some_out > 0 ? static_cast<uInt>(some_out) : 1;
    r = ::inflate(&z, Z_NO_FLUSH);
    in += some_in - z.avail_in;
    if (some_out > 0)
      out += some_out - z.avail_out;
    else if (z.avail_out == 0)
      broken("a member is larger than it is said to be");
  }
  if (r != Z_STREAM_END || in != deflated.size() || out != size)
    broken(z.msg ? std::string("a member cannot be inflated: ") + z.msg
                 : "a member has another size");
  return bytes;
}

std::vector<ZipMember> read_zip(std::string_view archive) {
  const Directory d = find_directory(archive);
  std::vector<Entry> entries = read_directory(archive, d);
  // Members may not lie on each other, or a small archive would be a large one.
  std::vector<const Entry*> order;
  for (const Entry& e : entries) order.push_back(&e);
  std::sort(order.begin(), order.end(),
            [](const Entry* a, const Entry* b) { return a->offset < b->offset; });
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    if (order[i + 1]->offset - order[i]->offset < kLocalSize + order[i]->name.size() ||
        order[i + 1]->offset - order[i]->offset - kLocalSize < order[i]->packed)
      broken("the members " + order[i]->name + " and " + order[i + 1]->name + " lie on each other");
  std::vector<ZipMember> members;
  for (const Entry& e : entries) members.push_back(read_member(archive, e, d.offset));
  return members;
}

void write_zip(NewFile& file, const std::vector<ZipMember>& members) {
  std::string directory;
  std::uint64_t at = 0;
  for (const ZipMember& m : members) {
    if (m.name.size() > 0xffff) file.fail("a name is too long for a zip archive");
    const std::uint32_t crc = crc_of(m.bytes);
    std::string header;
    append_number(header, kLocal);
    append_common(header, crc, m.name.size(), 20);
    header += m.name;
    append_extra64(header, {m.bytes.size(), m.bytes.size()});
    file.write(header);
    file.write(m.bytes);

    append_number(directory, kCentral);
    append_number(directory, std::uint16_t{45});  // made by version
    append_common(directory, crc, m.name.size(), 28);
    append_number(directory, std::uint64_t{0});       // comment, disk, attributes inside
    append_number(directory, std::uint16_t{0x0180});  // a file that its owner may read and write
    append_number(directory, kIn64);
    directory += m.name;
    append_extra64(directory, {m.bytes.size(), m.bytes.size(), at});
    at += header.size() + m.bytes.size();
  }
  file.write(directory);
  std::string end;
  append_number(end, kEnd64);
  append_number(end, std::uint64_t{kEnd64Size - 12});
  append_number(end, std::uint32_t{45 | 45 << 16});
  append_number(end, std::uint64_t{0});  // disks
  append_number(end, std::uint64_t{members.size()});
  append_number(end, std::uint64_t{members.size()});
  append_number(end, std::uint64_t{directory.size()});
  append_number(end, at);
  append_number(end, kLocator64);
  append_number(end, std::uint32_t{0});
  append_number(end, at + directory.size());
  append_number(end, std::uint32_t{1});
  append_number(end, kEnd);
  append_number(end, std::uint32_t{0});  // disks
  append_number(end, std::uint32_t{0xffffffff});
  append_number(end, kIn64);
  append_number(end, kIn64);
  append_number(end, std::uint16_t{0});
  file.write(end);
}

}  // namespace dynet::io_detail
