#include "dynet-like/io/layout.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/printable.h"
#include "dynet-like/io/bytes.h"

namespace dynet {
namespace {

using io_detail::append_number;
using io_detail::get_number;

constexpr std::size_t kHeaderOfFile = 64, kNumberSize = sizeof(std::uint64_t);

// Prefixes of the names of the arrays, by group.
std::vector<std::string> group_prefixes(const FileIndex& index) {
  std::vector<std::string> all;
  std::map<std::string, int> kinds;
  for (const SavedGroup& g : index.groups) {
    const int number = ++kinds[g.kind];
    const bool plain =
        g.kind == "ParameterCollection" || g.kind == "Parameter" || g.kind == "LookupParameter";
    std::string prefix = plain && number == 1 ? "" : g.kind;
    if (number > 1) prefix += "." + std::to_string(number);
    all.push_back(prefix.empty() ? "" : prefix + "/");
  }
  return all;
}

struct DecodedLayout {
  FileIndex index;
  std::vector<std::string_view> things;  // bytes of each thing
};

// Format: size of the file, size of its index, the index, the things.
DecodedLayout decode_layout(std::string_view bytes) {
  const auto need = [](bool holds) {
    if (!holds) throw FileError(std::string(kLayout) + " is no layout of a model file");
  };
  need(bytes.size() >= 2 * kNumberSize);
  const auto file_size = get_number<std::uint64_t>(bytes.data());
  const auto index_size = get_number<std::uint64_t>(bytes.data() + kNumberSize);
  bytes.remove_prefix(2 * kNumberSize);
  need(index_size <= bytes.size());
  DecodedLayout layout;
  layout.index = decode_index(bytes.substr(0, index_size), kHeaderOfFile + index_size, file_size);
  bytes.remove_prefix(index_size);
  for (const SavedThing& t : layout.index.things) {
    need(t.data.size <= bytes.size());
    layout.things.push_back(bytes.substr(0, t.data.size));
    bytes.remove_prefix(t.data.size);
  }
  need(bytes.empty());
  return layout;
}

}  // namespace

std::vector<NamedTensor> tensors_of(const ModelFile& file) {
  std::vector<NamedTensor> all;
  const std::vector<std::string> before = group_prefixes(file.index());
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (NamedTensor& t : tensors_of(file, file.index().groups[i])) {
      t.name = before[i] + t.name;
      all.push_back(std::move(t));
    }
  }
  return all;
}

NamedTensor layout_of(const ModelFile& file) {
  NamedTensor layout;
  layout.name = kLayout;
  layout.type = NamedTensor::Type::U8;
  const std::string index = encode_index(file.index());
  append_number(layout.bytes, file.size());
  append_number(layout.bytes, std::uint64_t{index.size()});
  layout.bytes += index;
  for (const SavedThing& t : file.index().things) layout.bytes += file.read(t.data);
  layout.shape = {layout.bytes.size()};
  return layout;
}

bool needs_layout(const FileIndex& index) {
  return index.things.size() != 1 || index.things[0].kind != "ParameterCollection";
}

std::string take_layout(std::vector<NamedTensor>& tensors) {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [](const NamedTensor& t) {
    return t.name == kLayout && t.type == NamedTensor::Type::U8;
  });
  if (found == tensors.end()) return {};
  std::string layout = std::move(found->bytes);
  tensors.erase(found);
  return layout;
}

void write_laid_out(const std::string& path, const std::string& layout,
                    const std::vector<NamedTensor>& tensors, const SaveOptions& options) {
  io_detail::with_memory("save", path, [&] {
    std::vector<std::vector<float>> values;
    DecodedLayout model;
    try {
      model = decode_layout(layout);
      std::map<std::string, const NamedTensor*> given;
      for (const NamedTensor& t : tensors) given[t.name] = &t;
      const std::vector<std::string> before = group_prefixes(model.index);
      for (std::size_t i = 0; i < before.size(); ++i) {
        for (SavedTensor& wanted : model.index.groups[i].tensors) {
          wanted.is_int8 = false;  // what other formats hold are floats
          std::string name = before[i] + wanted.name.substr(1);
          if (wanted.array > 0) name += "." + std::to_string(wanted.array);
          const auto found = given.find(name);
          if (found == given.end()) throw FileError("the array " + name + " is missing");
          NamedTensor t = *found->second;
          given.erase(found);
          t.is_table = wanted.is_lookup;
          auto [saved, ordered] = to_saved_tensor(t);
          if (saved.rows != wanted.rows || saved.sizes != wanted.sizes)
            throw FileError("the array " + name + " has another shape than it had");
          values.push_back(std::move(ordered));
        }
      }
      if (!given.empty())
        throw FileError("the array " + given.begin()->first + " is none of this model's");
    } catch (const FileError& e) {
      throw FileError("cannot save " + printable(path + ": " + e.what()));
    }
    std::vector<std::string_view> data = model.things;
    for (const std::vector<float>& v : values)
      data.emplace_back(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(float));
    write_model_file(path, std::move(model.index), data, options);
  });
}

}  // namespace dynet
