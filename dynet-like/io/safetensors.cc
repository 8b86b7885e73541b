#include "dynet-like/io/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/printable.h"
#include "dynet-like/io/bytes.h"

namespace dynet {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostHeader = 100'000'000;
constexpr std::size_t kMostSizes = 64;  // more than any program supports
constexpr const char *kMetadata = "__metadata__", *kType = "dtype", *kShape = "shape",
                     *kOffsets = "data_offsets";

struct Entry {
  NamedTensor tensor;
  std::uint64_t begin = 0, end = 0;
};

// Streaming parser of the header: neither its length nor its depth costs more memory than the
// arrays that it names. Stricter than nlohmann's parser: names must be unique.
class HeaderReader : public nlohmann::json_sax<json> {
 public:
  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;

  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_integer(number_integer_t) override { return other(); }
  bool number_float(number_float_t, const string_t&) override { return other(); }
  bool binary(binary_t&) override { return other(); }
  bool number_unsigned(number_unsigned_t x) override {
    if (at_ == At::shape) {
      if (entries.back().tensor.shape.size() == kMostSizes) fail("has too many sizes");
      entries.back().tensor.shape.push_back(x);
    } else if (at_ == At::offsets) {
      if (offsets_++ == 2) fail("needs two data_offsets");
      (offsets_ == 1 ? entries.back().begin : entries.back().end) = x;
    } else {
      other();
    }
    return true;
  }
  bool string(string_t& s) override {
    if (at_ == At::metadata) {
      metadata[key_] = s;
    } else if (at_ == At::tensor && key_ == kType) {
      set_type(s);
    } else {
      other();
    }
    return true;
  }
  bool key(string_t& key) override {
    if (!(at_ == At::top ? names_ : inner_).insert(key).second)
      throw FileError("broken JSON: the name " + quoted_printable(key) + " comes twice");
    key_ = key;
    if (at_ == At::tensor && key != kType && key != kShape && key != kOffsets)
      fail("has an unknown field " + quoted_printable(key));
    return true;
  }
  bool start_object(std::size_t) override {
    if (at_ == At::start) {
      at_ = At::top;
    } else if (at_ == At::top) {
      at_ = key_ == kMetadata ? At::metadata : At::tensor;
      inner_.clear();
      if (at_ == At::tensor) entries.emplace_back().tensor.name = key_;
    } else {
      other();
    }
    return true;
  }
  bool end_object() override {
    if (at_ == At::tensor) finish_tensor();
    at_ = At::top;
    return true;
  }
  bool start_array(std::size_t) override {
    if (at_ == At::tensor && key_ == kShape)
      at_ = At::shape;
    else if (at_ == At::tensor && key_ == kOffsets)
      at_ = At::offsets;
    else
      other();
    offsets_ = 0;
    return true;
  }
  bool end_array() override {
    if (at_ == At::offsets && offsets_ != 2) fail("needs two data_offsets");
    at_ = At::tensor;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception& e) override {
    // The text has the position, then the input read so far.
    throw FileError("broken JSON: " + std::string(e.what()).substr(0, 300));
  }

 private:
  // The object or array that holds the next value; `start` and `top` are outside of all tensors.
  enum class At { start, top, metadata, tensor, shape, offsets };

  std::string whose() const { return "tensor " + quoted_printable(entries.back().tensor.name); }
  [[noreturn]] void fail(const std::string& why) const { throw FileError(whose() + " " + why); }
  // Throws for a value of the wrong type.
  [[noreturn]] bool other() const {
    switch (at_) {
      case At::metadata:
        throw FileError("__metadata__ " + quoted_printable(key_) + " is no string");
      case At::tensor:
        fail("has no " + key_);
      case At::shape:
        throw FileError("a size of " + whose() + " is no whole number below 2^64");
      case At::offsets:
        throw FileError("an offset of " + whose() + " is no whole number below 2^64");
      default:
        throw FileError((key_ == kMetadata ? key_ : "tensor " + quoted_printable(key_)) +
                        " is no object");
    }
  }
  void set_type(const std::string& name) {
    const auto type = type_of_name(name);
    if (!type) fail("has an unknown type " + quoted_printable(name));
    entries.back().tensor.type = *type;
  }
  void finish_tensor() {
    for (const char* field : {kType, kShape, kOffsets})
      if (!inner_.contains(field)) fail(std::string("has no ") + field);
    const Entry& e = entries.back();
    const std::uint64_t n = byte_count(e.tensor.shape, type_size(e.tensor.type), whose());
    if (e.end < e.begin || e.end - e.begin != n)
      fail("needs " + std::to_string(n) + " bytes, its offsets are " + std::to_string(e.begin) +
           " and " + std::to_string(e.end));
  }

  At at_ = At::start;
  std::string key_;
  std::set<std::string> names_, inner_;  // keys of the header; keys of the nested object
  std::size_t offsets_ = 0;
};

// Parses a header; the arrays must fill `size` bytes without gaps.
HeaderReader read_header(std::string_view header, std::uint64_t size) {
  if (header.empty() || header[0] != '{') throw FileError("the header does not begin with {");
  HeaderReader reader;
  json::sax_parse(header, &reader);
  std::vector<Entry>& entries = reader.entries;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.tensor.name) < std::tie(b.begin, b.end, b.tensor.name);
  });
  std::uint64_t at = 0;
  for (const Entry& e : entries) {
    if (e.begin != at)
      throw FileError("tensor " + quoted_printable(e.tensor.name) + " begins at byte " +
                      std::to_string(e.begin) +
                      (e.begin < at ? ", within" : ", not at the end of") + " the one before");
    at = e.end;
  }
  if (at != size)
    throw FileError("the tensors have " + std::to_string(at) + " bytes, the file has " +
                    std::to_string(size));
  return reader;
}

std::string json_text(const std::string& text) { return json(text).dump(); }

// Built as text: nlohmann's tree of values cannot be destroyed when memory is exhausted.
std::string header_of(const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  std::string header = "{";
  const auto name = [&](const std::string& text) {
    if (header.back() != '{') header += ',';
    header += json_text(text) + ':';
  };
  if (!metadata.empty()) {
    name(kMetadata);
    header += '{';
    for (const auto& [key, text] : metadata) {
      name(key);
      header += json_text(text);
    }
    header += '}';
  }
  std::set<std::string_view> seen;
  std::uint64_t at = 0;
  for (const NamedTensor& t : tensors) {
    if (t.name == kMetadata || !seen.insert(t.name).second)
      throw FileError("the name " + quoted_printable(t.name) + " cannot be written" +
                      (t.name == kMetadata ? "" : " twice"));
    name(t.name);
    header += std::string("{\"dtype\":\"") + type_name(t.type) + "\",\"shape\":[";
    for (std::size_t i = 0; i < t.shape.size(); ++i)
      header += (i ? "," : "") + std::to_string(t.shape[i]);
    const std::uint64_t end = at + t.bytes.size();
    header += "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(end) + "]}";
    at = end;
  }
  return header + '}';
}

}  // namespace

std::vector<NamedTensor> read_safetensors(const std::string& path,
                                          std::map<std::string, std::string>* metadata,
                                          const FileSystem* files) {
  return io_detail::with_memory("load", path, [&] {
    const InputFile file(path, files);
    char length[8];
    if (file.size() < sizeof length) file.fail("it is too short for a safetensors file");
    file.read(0, length, sizeof length);
    const auto n = io_detail::get_number<std::uint64_t>(length);
    if (n > kMostHeader)
      file.fail("it has a header of " + std::to_string(n) + " bytes; safetensors allows " +
                std::to_string(kMostHeader));
    if (n > file.size() - 8)
      file.fail("it has a header of " + std::to_string(n) + " bytes, but ends before");
    const std::string header = file.read(8, n);
    HeaderReader all =
        io_detail::with_name_of(file, [&] { return read_header(header, file.size() - 8 - n); });
    std::vector<NamedTensor> tensors;
    for (Entry& e : all.entries) {
      e.tensor.bytes = file.read(8 + n + e.begin, e.end - e.begin);
      tensors.push_back(std::move(e.tensor));
    }
    if (metadata) *metadata = std::move(all.metadata);
    return tensors;
  });
}

void write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata,
                       const SaveOptions& options) {
  io_detail::with_memory("save", path, [&] {
    NewFile file(path, options.files);
    std::string header;
    try {
      header = header_of(tensors, metadata);
    } catch (const FileError& e) {
      file.fail(e.what());
    } catch (const json::exception&) {
      file.fail("a name or the metadata are no UTF-8");
    }
    header.resize((header.size() + 7) / 8 * 8, ' ');
    if (header.size() > kMostHeader) file.fail("its header would have more than 100 MB");
    std::string length;
    io_detail::append_number(length, std::uint64_t{header.size()});
    file.write(length);
    file.write(header);
    for (const NamedTensor& t : tensors) file.write(t.bytes);
    file.commit();
  });
}

void save_safetensors(const std::string& path, const ParameterCollection& pc,
                      const SaveOptions& options) {
  write_safetensors(path, tensors_of(pc), {}, options);
}

LoadReport load_safetensors(const std::string& path, ParameterCollection& pc,
                            const LoadOptions& options) {
  return store_tensors(path, read_safetensors(path, nullptr, options.files), pc, options);
}

}  // namespace dynet
