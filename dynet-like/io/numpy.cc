#include "dynet-like/io/numpy.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/printable.h"
#include "dynet-like/io/bytes.h"
#include "dynet-like/io/zip.h"

namespace dynet {
namespace {

using Type = NamedTensor::Type;

constexpr std::string_view kNpyMagic("\x93NUMPY", 6);
constexpr std::size_t kMostDims = 32, kNpyAlignment = 64;
constexpr std::size_t kMostBeforeHeader = 12, kMostNpyHeader = std::size_t{1} << 20;

struct Code {
  Type type;
  std::string_view name;  // without the order of bytes
};
constexpr Code kCodes[] = {{Type::F64, "f8"}, {Type::F32, "f4"}, {Type::F16, "f2"},
                           {Type::I64, "i8"}, {Type::I32, "i4"}, {Type::I16, "i2"},
                           {Type::I8, "i1"},  {Type::U64, "u8"}, {Type::U32, "u4"},
                           {Type::U16, "u2"}, {Type::U8, "u1"},  {Type::BOOL, "b1"}};

// The header, a literal of a Python dictionary.
class Header {
 public:
  explicit Header(std::string_view text) : text_(text) {
    need("{");
    while (!eat("}")) {
      const std::string key = string();
      need(":");
      if (key == "descr" && descr.empty())
        descr = string();
      else if (key == "fortran_order" && !fortran)
        fortran = boolean();
      else if (key == "shape" && !shape)
        shape = tuple();
      else
        fail("the key '" + key + "' is unknown or comes twice");
      if (!eat(",")) {
        need("}");
        break;
      }
    }
    space();
    if (at_ != text_.size()) fail("more follows after the end");
    if (descr.empty() || !fortran || !shape) fail("descr, fortran_order or shape is missing");
  }

  std::string descr;
  std::optional<bool> fortran;
  std::optional<std::vector<std::uint64_t>> shape;

 private:
  [[noreturn]] static void fail(const std::string& why) {
    throw FileError("its header is broken: " + why);
  }
  void space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool eat(std::string_view token) {
    space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void need(std::string_view token) {
    if (!eat(token)) fail("'" + std::string(token) + "' is missing");
  }
  std::string string() {
    space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"')
      fail("a string is missing; types of several parts are not read");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == text_.npos) fail("a string does not end");
    std::string s(text_.substr(at_ + 1, end - at_ - 1));
    if (s.find('\\') != s.npos) fail("a string has escapes");
    at_ = end + 1;
    return s;
  }
  bool boolean() {
    if (eat("True")) return true;
    need("False");
    return false;
  }
  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> sizes;
    need("(");
    while (!eat(")")) {
      space();
      std::uint64_t n = 0;
      const char* const first = text_.data() + at_;
      const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), n);
      if (error != std::errc()) fail("a size is no number");
      at_ += static_cast<std::size_t>(end - first);
      eat("L");  // as Python 2 wrote it
      if (sizes.size() == kMostDims) fail("there are more than 32 sizes");
      sizes.push_back(n);
      if (!eat(",")) {
        need(")");
        if (sizes.size() == 1) fail("a shape of one size needs a comma");
        break;
      }
    }
    return sizes;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void reverse_bytes(std::string& bytes, std::size_t size) {
  for (std::size_t i = 0; i + size <= bytes.size(); i += size)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + size));
}

// From the order in which the first index is the fastest to the other one.
std::string to_last_fastest(const std::string& bytes, const std::vector<std::uint64_t>& shape,
                            std::size_t size) {
  std::string out(bytes.size(), '\0');
  const std::size_t rank = shape.size(), n = bytes.size() / size;
  std::vector<std::uint64_t> index(rank, 0);
  std::uint64_t from = 0;
  for (std::size_t to = 0; to < n; ++to) {
    std::copy_n(bytes.data() + from * size, size, out.data() + to * size);
    for (std::size_t k = rank; k-- > 0;) {
      std::uint64_t stride = 1;
      for (std::size_t j = 0; j < k; ++j) stride *= shape[j];
      from += stride;
      if (++index[k] < shape[k]) break;
      from -= stride * shape[k];
      index[k] = 0;
    }
  }
  return out;
}

// A file of which the header was read.
struct Layout {
  NamedTensor tensor;  // without its bytes
  std::uint64_t bytes = 0;
  bool reversed = false, fortran = false;
};

// Where the values begin in a file that begins so and has `size` bytes.
std::uint64_t values_begin(std::string_view file, std::uint64_t size) {
  if (file.size() < 10 || file.substr(0, 6) != kNpyMagic) throw FileError("it is no .npy file");
  const int version = static_cast<unsigned char>(file[6]);
  if (version < 1 || version > 3 || file[7] != 0)
    throw FileError("it has .npy version " + std::to_string(version));
  const std::size_t begin = version == 1 ? 10 : kMostBeforeHeader;
  if (file.size() < begin) throw FileError("it is cut short");
  const std::size_t length = version == 1 ? io_detail::get_number<std::uint16_t>(&file[8])
                                          : io_detail::get_number<std::uint32_t>(&file[8]);
  if (length > size - begin) throw FileError("it is cut short within its header");
  if (length > kMostNpyHeader)
    throw FileError("it has a header of " + std::to_string(length) + " bytes");
  return begin + length;
}

// `before`: all before the values, of which there are `left` bytes.
Layout read_layout(std::string_view before, std::uint64_t left) {
  const Header header(before.substr(before[6] == 1 ? 10 : kMostBeforeHeader));
  const char order = header.descr[0];
  const Code* code = nullptr;
  for (const Code& c : kCodes)
    if (header.descr.substr(1) == c.name) code = &c;
  const std::size_t size = code ? type_size(code->type) : 1;
  if (!code || (order != '<' && order != '>' && order != '=' && !(order == '|' && size == 1)))
    throw FileError("it holds values of type '" + header.descr + "', which are not read");
  Layout l;
  l.bytes = byte_count(*header.shape, size, "it");
  l.reversed = order == '>';
  l.fortran = *header.fortran;
  l.tensor.type = code->type;
  l.tensor.shape = *header.shape;
  if (l.bytes != left)
    throw FileError("its shape needs " + std::to_string(l.bytes) + " bytes, it has " +
                    std::to_string(left));
  return l;
}

NamedTensor with_values(Layout l, std::string bytes) {
  NamedTensor& t = l.tensor;
  t.bytes = std::move(bytes);
  const std::size_t size = type_size(t.type);
  if (l.reversed) reverse_bytes(t.bytes, size);
  if (l.fortran && t.shape.size() > 1) t.bytes = to_last_fastest(t.bytes, t.shape, size);
  return std::move(t);
}

NamedTensor decode_npy(std::string file) {
  const std::uint64_t begin = values_begin(file, file.size());
  Layout layout = read_layout(std::string_view(file).substr(0, begin), file.size() - begin);
  return with_values(std::move(layout), std::move(file.erase(0, begin)));
}

std::string encode_npy(const NamedTensor& t) {
  const auto code = std::find_if(std::begin(kCodes), std::end(kCodes),
                                 [&](const Code& c) { return c.type == t.type; });
  if (code == std::end(kCodes))
    throw FileError("NumPy has no type " + std::string(type_name(t.type)));
  std::string header = "{'descr': '";
  header += type_size(t.type) == 1 ? '|' : '<';
  header += code->name;
  header += "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < t.shape.size(); ++i)
    header += (i ? ", " : "") + std::to_string(t.shape[i]);
  header += t.shape.size() == 1 ? ",), }" : "), }";
  const std::size_t length =
      (10 + header.size() + 1 + kNpyAlignment - 1) / kNpyAlignment * kNpyAlignment;
  header.resize(length - 11, ' ');
  header += '\n';
  std::string file(kNpyMagic);
  file += '\1';
  file += '\0';
  io_detail::append_number(file, static_cast<std::uint16_t>(header.size()));
  return file + header + t.bytes;
}

}  // namespace

NamedTensor read_npy(const std::string& path, const FileSystem* files) {
  return io_detail::with_memory("load", path, [&] {
    const InputFile file(path, files);
    const std::uint64_t size = file.size();
    const std::string start = file.read(0, std::min<std::uint64_t>(size, kMostBeforeHeader));
    const std::uint64_t begin =
        io_detail::with_name_of(file, [&] { return values_begin(start, size); });
    const std::string before = file.read(0, begin);
    Layout layout =
        io_detail::with_name_of(file, [&] { return read_layout(before, size - begin); });
    std::string bytes = file.read(begin, layout.bytes);
    return with_values(std::move(layout), std::move(bytes));
  });
}

void write_npy(const std::string& path, const NamedTensor& tensor, const SaveOptions& options) {
  io_detail::with_memory("save", path, [&] {
    std::string bytes;
    try {
      bytes = encode_npy(tensor);
    } catch (const FileError& e) {
      throw FileError("cannot save " + printable(path + ": " + e.what()));
    }
    write_file(path, bytes, options);
  });
}

std::vector<NamedTensor> read_npz(const std::string& path, const FileSystem* files) {
  return io_detail::with_memory("load", path, [&] {
    const InputFile file(path, files);
    std::vector<NamedTensor> tensors;
    io_detail::read_zip(file, [&](io_detail::ZipMember m) {
      constexpr std::string_view kSuffix = ".npy";
      if (!m.name.ends_with(kSuffix)) file.fail("member " + m.name + " is no .npy file");
      try {
        tensors.push_back(decode_npy(std::move(m.bytes)));
      } catch (const FileError& e) {
        file.fail("member " + m.name + ": " + e.what());
      }
      tensors.back().name = m.name.substr(0, m.name.size() - kSuffix.size());
    });
    return tensors;
  });
}

void write_npz(const std::string& path, const std::vector<NamedTensor>& tensors,
               const SaveOptions& options) {
  io_detail::with_memory("save", path, [&] {
    NewFile file(path, options.files);
    std::set<std::string> seen;
    std::vector<io_detail::ZipMember> members;
    for (const NamedTensor& t : tensors) {
      if (!seen.insert(t.name).second) file.fail("the name " + t.name + " comes twice");
      try {
        members.push_back({t.name + ".npy", encode_npy(t)});
      } catch (const FileError& e) {
        file.fail(t.name + ": " + e.what());
      }
    }
    io_detail::write_zip(file, members);
    file.commit();
  });
}

void save_npz(const std::string& path, const ParameterCollection& pc, const SaveOptions& options) {
  write_npz(path, tensors_of(pc), options);
}

LoadReport load_npz(const std::string& path, ParameterCollection& pc, const LoadOptions& options) {
  return store_tensors(path, read_npz(path, options.files), pc, options);
}

}  // namespace dynet
