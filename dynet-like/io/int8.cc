#include "dynet-like/io/int8.h"

#include <algorithm>
#include <deque>
#include <string_view>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/io/int8_tensors.h"

namespace dynet {
namespace {

std::size_t scales_of(const SavedTensor& t) {
  return static_cast<std::size_t>(t.is_lookup ? t.rows : t.sizes[0]);
}

bool is_of_parameters(const SavedGroup& g) {
  return g.kind == "ParameterCollection" || g.kind == "Parameter" || g.kind == "LookupParameter";
}

}  // namespace

std::uint64_t byte_count(const SavedTensor& t) {
  return t.is_int8 ? scales_of(t) * sizeof(float) + t.count() : t.count() * sizeof(float);
}

bool can_be_int8(const SavedTensor& t) {
  return t.array == 0 && t.count() > 0 && (t.is_lookup || t.sizes.size() == 2);
}

void decode(const SavedTensor& t, const char* bytes, float* to) {
  const auto* const numbers = reinterpret_cast<const float*>(bytes);
  const std::size_t count = t.count();
  if (!t.is_int8) return static_cast<void>(std::copy_n(numbers, count, to));
  const auto* const values = reinterpret_cast<const std::int8_t*>(numbers + scales_of(t));
  from_int8(numbers, values, count, scales_of(t), t.is_lookup, to);
}

std::unique_ptr<const Int8Matrix> int8_matrix(const SavedTensor& t, const char* bytes) {
  if (t.is_lookup || t.sizes[1] > Int8Matrix::kMostColumns) return nullptr;
  const auto* const scales = reinterpret_cast<const float*>(bytes);
  return std::make_unique<Int8Matrix>(t.sizes[0], t.sizes[1], scales,
                                      reinterpret_cast<const std::int8_t*>(scales + t.sizes[0]));
}

void write_int8_copy(const std::string& from, const std::string& to, const SaveOptions& options) {
  io_detail::with_memory("load", from, [&] {
    const ModelFile file(from);
    FileIndex index = file.index();
    std::deque<std::string> bytes;
    for (const SavedThing& thing : index.things) bytes.push_back(file.read(thing.data));
    for (SavedGroup& group : index.groups)
      for (SavedTensor& t : group.tensors) {
        std::string& section = bytes.emplace_back(file.read(t.data));
        if (t.is_int8 || !is_of_parameters(group) || !can_be_int8(t)) continue;
        try {
          const Int8Values v = to_int8(reinterpret_cast<const float*>(section.data()), t.count(),
                                       scales_of(t), t.is_lookup);
          section.assign(reinterpret_cast<const char*>(v.scales.data()),
                         v.scales.size() * sizeof(float));
          section.append(reinterpret_cast<const char*>(v.values.data()), v.values.size());
        } catch (const ArgumentError& e) {
          file.fail("the array " + t.name + " cannot have 8 bits: " + e.what());
        }
        t.is_int8 = true;
      }
    write_model_file(to, std::move(index), {bytes.begin(), bytes.end()}, options);
  });
}

}  // namespace dynet
