#include "dynet-like/io/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "dynet-like/base/errors.h"
#include "dynet-like/io/bytes.h"

namespace dynet {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostHeader = 100'000'000;
constexpr int kMostLevels = 3;  // a size, in a shape, in a tensor
constexpr const char* kMetadata = "__metadata__";

struct Entry {
  NamedTensor tensor;
  std::uint64_t begin = 0, end = 0;
};

// In quotes, for errors: what is no UTF-8 is replaced.
std::string quoted(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

// Stricter than nlohmann's: names are unique, and values lie no deeper than they may.
json parse(std::string_view text) {
  std::vector<std::set<std::string>> names;
  const auto check = [&](int depth, json::parse_event_t event, const json& value) {
    using Event = json::parse_event_t;
    if (depth > kMostLevels) throw FileError("broken JSON: it is nested too deeply");
    if (event == Event::object_start) names.emplace_back();
    if (event == Event::object_end) names.pop_back();
    if (event == Event::key && !names.back().insert(value.get<std::string>()).second)
      throw FileError("broken JSON: the name " + quoted(value.get<std::string>()) + " comes twice");
    return true;
  };
  try {
    return json::parse(text, check);
  } catch (const json::exception& e) {
    const std::string why = e.what();  // with the place, then as much of the text as was read
    throw FileError("broken JSON: " + why.substr(0, 300));
  }
}

std::uint64_t whole(const json& number, const std::string& what) {
  if (!number.is_number_unsigned()) throw FileError(what + " is no whole number below 2^64");
  return number.get<std::uint64_t>();
}

const json& member(const json& j, const char* name, json::value_t type, const std::string& whose) {
  const auto found = j.find(name);
  if (found == j.end() || found->type() != type) throw FileError(whose + " has no " + name);
  return *found;
}

Entry read_entry(const std::string& name, const json& j) {
  const std::string whose = "tensor " + quoted(name);
  if (!j.is_object()) throw FileError(whose + " is no object");
  for (const auto& [key, value] : j.items())
    if (key != "dtype" && key != "shape" && key != "data_offsets")
      throw FileError(whose + " has an unknown field " + quoted(key));
  Entry e;
  e.tensor.name = name;
  const auto type = member(j, "dtype", json::value_t::string, whose).get<std::string>();
  bool known = false;
  for (auto t = NamedTensor::Type::F64; !known && t <= NamedTensor::Type::BOOL;
       t = static_cast<NamedTensor::Type>(static_cast<int>(t) + 1))
    if ((known = type == type_name(t))) e.tensor.type = t;
  if (!known) throw FileError(whose + " has an unknown type " + quoted(type));
  for (const json& size : member(j, "shape", json::value_t::array, whose))
    e.tensor.shape.push_back(whole(size, "a size of " + whose));
  const json& offsets = member(j, "data_offsets", json::value_t::array, whose);
  if (offsets.size() != 2) throw FileError(whose + " needs two data_offsets");
  e.begin = whole(offsets[0], "an offset of " + whose);
  e.end = whole(offsets[1], "an offset of " + whose);
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
  const json all = parse(header);
  std::vector<Entry> entries;
  for (const auto& [name, value] : all.items()) {
    if (name != kMetadata) {
      entries.push_back(read_entry(name, value));
      continue;
    }
    if (!value.is_object()) throw FileError("__metadata__ is no object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) throw FileError("__metadata__ " + quoted(key) + " is no string");
      if (metadata) (*metadata)[key] = text.get<std::string>();
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t at = 0;
  for (const Entry& e : entries) {
    if (e.begin != at)
      throw FileError("tensor " + quoted(e.tensor.name) + " begins at byte " +
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
  json all = json::object();
  if (!metadata.empty()) all[kMetadata] = metadata;
  std::uint64_t at = 0;
  for (const NamedTensor& t : tensors) {
    if (t.name == kMetadata || all.contains(t.name))
      file.fail("the name " + quoted(t.name) + " cannot be written" +
                (t.name == kMetadata ? "" : " twice"));
    const std::uint64_t end = at + t.bytes.size();
    all[t.name] = {{"dtype", type_name(t.type)}, {"shape", t.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string header;
  try {
    header = all.dump();
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
