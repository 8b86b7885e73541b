#include "dynet-like/io/exchange.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/printable.h"
#include "dynet-like/io/bytes.h"
#include "dynet-like/io/int8_tensors.h"
#include "dynet-like/io/save.h"
#include "dynet-like/param/storage.h"

namespace dynet {
namespace {

using Type = NamedTensor::Type;
using io_detail::get_number;

struct TypeInfo {
  const char* name;
  std::size_t size;
};

// In the order of NamedTensor::Type.
constexpr TypeInfo kTypes[] = {{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8},
                               {"I32", 4}, {"I16", 2}, {"I8", 1},  {"U64", 8},  {"U32", 4},
                               {"U16", 2}, {"U8", 1},  {"BOOL", 1}};

float half_to_float(std::uint16_t h) {
  const std::uint32_t sign = std::uint32_t{h & 0x8000u} << 16;
  std::uint32_t exponent = (h >> 10) & 31, fraction = h & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) {
    const float small = std::ldexp(static_cast<float>(fraction), -24);
    return sign ? -small : small;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

// Copies an array between the two orders of elements. `sizes` begins with the first index;
// `to_last` means to the order in which the last index is the fastest.
void reorder(const float* from, float* to, const std::vector<std::uint64_t>& sizes, bool to_last) {
  std::uint64_t n = 1;
  for (const std::uint64_t s : sizes) n *= s;
  const std::size_t rank = sizes.size();
  std::vector<std::uint64_t> index(rank, 0), stride(rank, 1);
  for (std::size_t k = 1; k < rank; ++k) stride[k] = stride[k - 1] * sizes[k - 1];
  std::uint64_t first = 0;  // index in the order in which the first index is the fastest
  for (std::uint64_t last = 0; last < n; ++last) {
    if (to_last)
      to[last] = from[first];
    else
      to[first] = from[last];
    for (std::size_t k = rank; k-- > 0;) {
      first += stride[k];
      if (++index[k] < sizes[k]) break;
      first -= stride[k] * sizes[k];
      index[k] = 0;
    }
  }
}

void reorder_rows(const float* from, float* to, std::uint64_t rows,
                  const std::vector<std::uint64_t>& sizes, bool to_last) {
  std::uint64_t n = 1;
  for (const std::uint64_t s : sizes) n *= s;
  if (n == 0) return;  // regardless of the number of rows
  if (sizes.size() < 2)
    std::copy_n(from, rows * n, to);
  else
    for (std::uint64_t r = 0; r < rows; ++r) reorder(from + r * n, to + r * n, sizes, to_last);
}

std::string with_slash(const std::string& name) {
  return name.starts_with('/') ? name : "/" + name;
}

SavedTensor saved_shape(const NamedTensor& t, bool is_table) {
  SavedTensor s;
  s.name = with_slash(t.name);
  s.sizes = t.shape;
  if (is_table && !t.shape.empty()) {
    s.is_lookup = true;
    s.rows = t.shape[0];
    s.sizes.erase(s.sizes.begin());
  }
  if (s.sizes.size() + s.is_lookup > kMaxTensorDim)
    throw FileError(t.name + " has " + std::to_string(t.shape.size()) + " sizes");
  for (const std::uint64_t n : t.shape)
    if (n > 0xffffffffu) throw FileError(t.name + " has a size of " + std::to_string(n));
  return s;
}

}  // namespace

std::uint64_t NamedTensor::count() const { return bytes.size() / type_size(type); }

const char* type_name(Type type) { return kTypes[static_cast<std::size_t>(type)].name; }

std::optional<Type> type_of_name(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kTypes); ++i)
    if (name == kTypes[i].name) return static_cast<Type>(i);
  return {};
}

std::size_t type_size(Type type) { return kTypes[static_cast<std::size_t>(type)].size; }

std::uint64_t byte_count(const std::vector<std::uint64_t>& shape, std::size_t size,
                         const std::string& whose) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60;
  std::uint64_t n = size;
  for (const std::uint64_t s : shape) {
    if (s != 0 && n > kMost / s) throw FileError(whose + " has more values than can be counted");
    n *= s;
  }
  return n;
}

std::vector<float> to_floats(const NamedTensor& t) {
  std::vector<float> values(t.count());
  const char* p = t.bytes.data();
  switch (t.type) {
    case Type::F32:
      if (!values.empty()) std::memcpy(values.data(), p, t.bytes.size());
      break;
    case Type::F64:
      for (float& v : values) {
        v = static_cast<float>(std::bit_cast<double>(get_number<std::uint64_t>(p)));
        p += 8;
      }
      break;
    case Type::F16:
      for (float& v : values) {
        v = half_to_float(get_number<std::uint16_t>(p));
        p += 2;
      }
      break;
    case Type::BF16:
      for (float& v : values) {
        v = std::bit_cast<float>(std::uint32_t{get_number<std::uint16_t>(p)} << 16);
        p += 2;
      }
      break;
    default:
      throw FileError(t.name + " holds " + type_name(t.type) + ", which are no floats");
  }
  return values;
}

std::vector<float> to_our_order(const NamedTensor& t, bool is_table) {
  const std::vector<float> values = to_floats(t);
  std::vector<float> ordered(values.size());
  const bool rows = is_table && !t.shape.empty();
  reorder_rows(values.data(), ordered.data(), rows ? t.shape[0] : 1,
               {t.shape.begin() + rows, t.shape.end()}, false);
  return ordered;
}

NamedTensor to_named_tensor(const SavedTensor& t, const float* values) {
  NamedTensor out;
  out.name = t.name.substr(t.name.starts_with('/'));
  out.is_table = t.is_lookup;
  if (t.is_lookup) out.shape.push_back(t.rows);
  out.shape.insert(out.shape.end(), t.sizes.begin(), t.sizes.end());
  std::vector<float> ordered(t.count());
  reorder_rows(values, ordered.data(), t.rows, t.sizes, true);
  out.bytes.assign(reinterpret_cast<const char*>(ordered.data()), ordered.size() * sizeof(float));
  return out;
}

std::vector<NamedTensor> tensors_of(const ParameterCollection& pc) {
  std::vector<NamedTensor> all;
  const GroupView view = view_of(pc);
  for (std::size_t i = 0; i < view.values.size(); ++i)
    all.push_back(to_named_tensor(view.group.tensors[i], view.values[i]));
  return all;
}

std::vector<NamedTensor> tensors_of(const ModelFile& file, const SavedGroup& group) {
  return io_detail::with_memory("load", file.path(), [&] {
    std::vector<NamedTensor> all;
    for (const SavedTensor& t : group.tensors) {
      std::vector<float> values(t.count());
      decode(t, file.read(t.data).data(), values.data());
      all.push_back(to_named_tensor(t, values.data()));
      if (t.array > 0) all.back().name += "." + std::to_string(t.array);
    }
    return all;
  });
}

std::pair<SavedTensor, std::vector<float>> to_saved_tensor(const NamedTensor& t) {
  return {saved_shape(t, t.is_table), to_our_order(t, t.is_table)};
}

void write_model_tensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                         const SaveOptions& options, const Dict* words) {
  io_detail::with_memory("save", path, [&] {
    Saving saving;
    io_detail::save_thing(saving, ParameterCollection());
    if (words) io_detail::save_thing(saving, *words);
    GroupView view;
    view.group.kind = "ParameterCollection";
    std::vector<std::vector<float>> values;
    try {
      for (const NamedTensor& t : tensors) {
        auto [saved, ordered] = to_saved_tensor(t);
        view.group.tensors.push_back(std::move(saved));
        values.push_back(std::move(ordered));
      }
    } catch (const FileError& e) {
      throw FileError("cannot save " + printable(path + ": " + e.what()));
    }
    for (const auto& v : values) view.values.push_back(v.data());
    saving.replace(0, std::move(view));
    saving.write(path, options);
  });
}

LoadReport store_tensors(const std::string& origin, const std::vector<NamedTensor>& tensors,
                         ParameterCollection& pc, const LoadOptions& options) {
  return io_detail::with_memory("load", origin, [&] {
    LoadOptions values_only = options;
    values_only.settings = false;  // other formats store no settings
    Loading loading(values_only);
    std::map<std::string, const ParameterStorageBase*> here;
    for (const auto& [name, p] : named_parameters(pc)) here.emplace(name, p);
    IncomingGroup in;
    in.group.kind = "ParameterCollection";
    try {
      for (const NamedTensor& t : tensors) {
        const auto p = here.find(loading.renamed(with_slash(t.name)));
        const bool known = p != here.end();
        SavedTensor s = saved_shape(t, known && p->second->is_lookup);
        std::vector<float> ordered;
        if (known) ordered = to_our_order(t, s.is_lookup);
        in.values.push_back(std::move(ordered));
        in.group.tensors.push_back(std::move(s));
      }
      loading.add(pc, std::move(in));
      if (const std::string problem = loading.problem(); !problem.empty())
        throw FileError("it does not fit: " + problem);
    } catch (const OutOfMemoryError&) {  // from the memory for values, without a file name
      io_detail::out_of_memory("load", origin);
    } catch (const FileError& e) {
      throw FileError("cannot load " + printable(origin + ": " + e.what()));
    }
    return loading.commit();
  });
}

}  // namespace dynet
