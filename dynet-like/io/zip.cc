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
                      kLocator64Size = 20, kMostRatio = 1040, kFirstPiece = 1 << 16;
constexpr std::uint32_t kIn64 = 0xffffffff;  // the number is in the ZIP64 record

constexpr const char* kBroken = "it is no sound zip archive: ";

[[noreturn]] void broken(const std::string& why) { throw FileError(kBroken + why); }

std::uint32_t crc_of(std::string_view bytes) {
  const auto* first = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(::crc32_z(0, first, bytes.size()));
}

// The fields of a record.
class Fields {
 public:
  explicit Fields(std::string bytes) : bytes_(std::move(bytes)) {}
  template <class Int>
  Int get(std::size_t at) const {
    return get_number<Int>(&bytes_[at]);
  }
  std::string_view bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

struct Entry {
  std::string name;
  std::uint16_t flags, method;
  std::uint32_t crc;
  std::uint64_t packed, size, offset;
  std::uint64_t begin = 0;  // of its bytes
};

struct Directory {
  std::uint64_t count, size, offset;
};

// Takes an archive apart. No number in it is trusted before it was compared with the file.
class Reader {
 public:
  explicit Reader(const InputFile& file) : file_(file) {}

  Directory find_directory() const;
  std::vector<Entry> read_directory(const Directory& d) const;
  /// Where the bytes of the members are, all of them before `limit` and none within others.
  void locate(std::vector<Entry>& entries, std::uint64_t limit) const;
  ZipMember read_member(const Entry& e) const;

 private:
  [[noreturn]] void broken(const std::string& why) const { file_.fail(kBroken + why); }
  Fields fields(std::uint64_t at, std::uint64_t size, const char* what) const {
    if (at > file_.size() || size > file_.size() - at) broken(std::string(what) + " is cut short");
    return Fields(file_.read(at, size));
  }
  void read_extra(std::string_view extra, Entry& e) const;

  const InputFile& file_;
};

// The ZIP64 numbers take the places of those that are all ones, in this order.
void Reader::read_extra(std::string_view extra, Entry& e) const {
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

Directory Reader::find_directory() const {
  const std::uint64_t size = file_.size();
  if (size < kEndSize) broken("it is too short");
  const std::uint64_t n = std::min<std::uint64_t>(size, kEndSize + 0xffff), first = size - n;
  const Fields tail(file_.read(first, n));
  std::size_t at = n - kEndSize;
  while (tail.get<std::uint32_t>(at) != kEnd ||
         at + kEndSize + tail.get<std::uint16_t>(at + 20) != n) {
    if (at == 0) broken("its end is missing");
    --at;
  }
  if (tail.get<std::uint16_t>(at + 4) != 0 || tail.get<std::uint16_t>(at + 6) != 0)
    broken("it has several disks");
  Directory d{tail.get<std::uint16_t>(at + 10), tail.get<std::uint32_t>(at + 12),
              tail.get<std::uint32_t>(at + 16)};
  std::uint64_t limit = first + at;
  if (limit >= kLocator64Size) {
    const Fields locator = fields(limit - kLocator64Size, kLocator64Size, "its ZIP64 locator");
    if (locator.get<std::uint32_t>(0) == kLocator64) {
      limit = locator.get<std::uint64_t>(8);
      const Fields end = fields(limit, kEnd64Size, "its ZIP64 end");
      if (end.get<std::uint32_t>(0) != kEnd64) broken("its ZIP64 end is missing");
      d = {end.get<std::uint64_t>(32), end.get<std::uint64_t>(40), end.get<std::uint64_t>(48)};
    }
  }
  if (d.offset > limit || d.size != limit - d.offset)
    broken("its directory is not where it is said to be");
  return d;
}

std::vector<Entry> Reader::read_directory(const Directory& d) const {
  std::vector<Entry> entries;
  if (d.count > d.size / kCentralSize) broken("its directory has no room for all members");
  std::uint64_t at = d.offset;
  std::set<std::string> seen;
  for (std::uint64_t i = 0; i < d.count; ++i) {
    const Fields f = fields(at, kCentralSize, "its directory");
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
    const Fields rest = fields(at + kCentralSize, name + extra + comment, "its directory");
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

void Reader::locate(std::vector<Entry>& entries, std::uint64_t limit) const {
  std::vector<const Entry*> order;
  for (Entry& e : entries) {
    const Fields f = fields(e.offset, kLocalSize, "a member");
    if (f.get<std::uint32_t>(0) != kLocal)
      broken("the member " + e.name + " is not where it is said to be");
    const std::size_t name = f.get<std::uint16_t>(26), extra = f.get<std::uint16_t>(28);
    if (fields(e.offset + kLocalSize, name, "a member").bytes() != e.name ||
        f.get<std::uint16_t>(8) != e.method)
      broken("the member " + e.name + " is another in the directory");
    e.begin = e.offset + kLocalSize + name + extra;
    if (e.begin > limit || e.packed > limit - e.begin)
      broken("the member " + e.name + " is cut short");
    order.push_back(&e);
  }
  // Or a small archive would be a large one.
  std::sort(order.begin(), order.end(),
            [](const Entry* a, const Entry* b) { return a->offset < b->offset; });
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    if (order[i]->begin + order[i]->packed > order[i + 1]->offset)
      broken("the members " + order[i]->name + " and " + order[i + 1]->name + " lie on each other");
}

ZipMember Reader::read_member(const Entry& e) const {
  if (e.method != 8 && (e.method != 0 || e.packed != e.size))
    broken("the member " + e.name + " is packed by method " + std::to_string(e.method));
  ZipMember m{e.name, file_.read(e.begin, e.packed)};
  if (e.method == 8) m.bytes = with_name_of(file_, [&] { return inflate(m.bytes, e.size); });
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
  std::string bytes;  // grows with what comes, whatever it is said to become
  char beyond;        // where a byte too many would go
  z_stream z = {};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) throw OutOfMemoryError("there is no memory for zlib");
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> end(&z, inflateEnd);
  constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
  std::size_t in = 0, out = 0;
  int r = Z_OK;
  while (r == Z_OK) {
    if (out == bytes.size()) bytes.resize(std::min<std::uint64_t>(size, 2 * out + kFirstPiece));
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

void read_zip(const InputFile& file, const std::function<void(ZipMember)>& visit) {
  const Reader reader(file);
  const Directory d = reader.find_directory();
  std::vector<Entry> entries = reader.read_directory(d);
  reader.locate(entries, d.offset);
  for (const Entry& e : entries) visit(reader.read_member(e));
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
