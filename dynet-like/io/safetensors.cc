#include "dynet-like/io/safetensors.h"

#include <algorithm>
#include <set>
#include <utility>

#include "dynet-like/base/errors.h"
#include "dynet-like/io/bytes.h"
#include "dynet-like/io/json.h"

namespace dynet {
namespace {

using io_detail::Json;
using io_detail::json_string;

constexpr std::uint64_t kMostHeader = 100'000'000;
constexpr std::string_view kMetadata = "__metadata__";

struct Entry {
  NamedTensor tensor;
  std::uint64_t begin = 0, end = 0;
};

const Json& member(const Json& j, const char* name, Json::Kind kind, const std::string& whose) {
  const Json* found = j.find(name);
  if (!found || found->kind != kind) throw FileError(whose + " has no " + name);
  return *found;
}

Entry read_entry(const std::string& name, const Json& j) {
  const std::string whose = "tensor " + json_string(name);
  if (j.kind != Json::Kind::object) throw FileError(whose + " is no object");
  for (const std::string& key : j.names)
    if (key != "dtype" && key != "shape" && key != "data_offsets")
      throw FileError(whose + " has an unknown field " + json_string(key));
  Entry e;
  e.tensor.name = name;
  const std::string& type = member(j, "dtype", Json::Kind::string, whose).text;
  bool known = false;
  for (auto t = NamedTensor::Type::F64; !known && t <= NamedTensor::Type::BOOL;
       t = static_cast<NamedTensor::Type>(static_cast<int>(t) + 1))
    if ((known = type == type_name(t))) e.tensor.type = t;
  if (!known) throw FileError(whose + " has an unknown type " + json_string(type));
  for (const Json& size : member(j, "shape", Json::Kind::array, whose).items)
    e.tensor.shape.push_back(size.whole("a size of " + whose));
  const auto& offsets = member(j, "data_offsets", Json::Kind::array, whose).items;
  if (offsets.size() != 2) throw FileError(whose + " needs two data_offsets");
  e.begin = offsets[0].whole("an offset of " + whose);
  e.end = offsets[1].whole("an offset of " + whose);
  const std::uint64_t n = byte_count(e.tensor.shape, type_size(e.tensor.type), whose);
  if (e.end < e.begin || e.end - e.begin != n)
    throw FileError(whose + " needs " + std::to_string(n) + " bytes, its offsets are " +
                    std::to_string(e.begin) + " and " + std::to_string(e.end));
  return e;
}

// The arrays must fill `size` bytes without holes.
std::vector<Entry> read_header(std::string_view header, std::uint64_t size,
                               std::map<std::string, std::string>* metadata) {
  if (header.empty() || header[0] != '{') throw FileError("the header does not begin with {");
  const Json j = io_detail::parse_json(header);
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < j.items.size(); ++i) {
    const std::string& name = j.names[i];
    const Json& value = j.items[i];
    if (name != kMetadata) {
      entries.push_back(read_entry(name, value));
      continue;
    }
    if (value.kind != Json::Kind::object) throw FileError("__metadata__ is no object");
    for (std::size_t k = 0; k < value.items.size(); ++k) {
      const std::string& key = value.names[k];
      const Json& text = value.items[k];
      if (text.kind != Json::Kind::string)
        throw FileError("__metadata__ " + json_string(key) + " is no string");
      if (metadata) (*metadata)[key] = text.text;
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t at = 0;
  for (const Entry& e : entries) {
    if (e.begin != at)
      throw FileError("tensor " + json_string(e.tensor.name) + " begins at byte " +
                      std::to_string(e.begin) +
                      (e.begin < at ? ", within" : ", not at the end of") + " the one before");
    at = e.end;
  }
  if (at != size)
    throw FileError("the tensors have " + std::to_string(at) + " bytes, the file has " +
                    std::to_string(size));
  return entries;
}

}  // namespace

std::vector<NamedTensor> read_safetensors(const std::string& path,
                                          std::map<std::string, std::string>* metadata,
                                          const FileSystem* files) {
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
  std::string header(n, '\0');
  file.read(8, header.data(), n);
  std::vector<Entry> entries;
  try {
    entries = read_header(header, file.size() - 8 - n, metadata);
  } catch (const FileError& e) {
    file.fail(e.what());
  }
  std::vector<NamedTensor> tensors;
  for (Entry& e : entries) {
    e.tensor.bytes.resize(e.end - e.begin);
    file.read(8 + n + e.begin, e.tensor.bytes.data(), e.tensor.bytes.size());
    tensors.push_back(std::move(e.tensor));
  }
  return tensors;
}

void write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata,
                       const SaveOptions& options) {
  NewFile file(path, options.files);
  std::string header = "{";
  const auto separate = [&] { header += header.size() > 1 ? "," : ""; };
  if (!metadata.empty()) {
    header += json_string(kMetadata) + ":{";
    for (const auto& [key, text] : metadata)
      header += (header.back() == '{' ? "" : ",") + json_string(key) + ":" + json_string(text);
    header += "}";
  }
  std::uint64_t at = 0;
  std::set<std::string> seen;
  for (const NamedTensor& t : tensors) {
    if (t.name == kMetadata || !seen.insert(t.name).second)
      file.fail("the name " + json_string(t.name) + " cannot be written" +
                (t.name == kMetadata ? "" : " twice"));
    separate();
    header +=
        json_string(t.name) + ":{\"dtype\":" + json_string(type_name(t.type)) + ",\"shape\":[";
    for (std::size_t i = 0; i < t.shape.size(); ++i)
      header += (i ? "," : "") + std::to_string(t.shape[i]);
    header += "],\"data_offsets\":[" + std::to_string(at) + "," +
              std::to_string(at + t.bytes.size()) + "]}";
    at += t.bytes.size();
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  if (header.size() > kMostHeader) file.fail("its header would have more than 100 MB");
  std::string length;
  io_detail::append_number(length, std::uint64_t{header.size()});
  file.write(length);
  file.write(header);
  for (const NamedTensor& t : tensors) file.write(t.bytes);
  file.commit();
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
