#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dynet-like/io/dict.h"
#include "dynet-like/io/loading.h"

namespace dynet {

/// An array with a name, in the layout of other programs.
struct NamedTensor {
  enum class Type { F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, BOOL };

  std::string name;
  Type type = Type::F32;
  std::vector<std::uint64_t> shape;
  std::string bytes;      ///< little-endian, the last index is the fastest
  bool is_table = false;  ///< the first index counts rows; stored by model files only

  std::uint64_t count() const;
};

/// Name of a type in safetensors, such as "F32".
const char* type_name(NamedTensor::Type type);
/// The type with a safetensors name; empty if there is none.
std::optional<NamedTensor::Type> type_of_name(std::string_view name);
std::size_t type_size(NamedTensor::Type type);
/// Product of `shape` and `size`; throws FileError, naming `whose`, if it exceeds 60 bits.
std::uint64_t byte_count(const std::vector<std::uint64_t>& shape, std::size_t size,
                         const std::string& whose);

/// The values as floats: exact for F32, F16 and BF16, rounded for F64. FileError for integer types.
std::vector<float> to_floats(const NamedTensor& tensor);

/// to_floats in this library's order: the first index is the fastest; a table is stored row by row.
std::vector<float> to_our_order(const NamedTensor& tensor, bool is_table);

/// Converts a tensor of this library; the first `/` of its name is removed.
NamedTensor to_named_tensor(const SavedTensor& tensor, const float* values);
/// Converts the parameters and tables of a collection: element (i, j) stays element (i, j), a table
/// of n rows {d} becomes an array of n x d, names lose their first `/`.
std::vector<NamedTensor> tensors_of(const ParameterCollection& pc);
/// Converts the parameters and tables of a group of a model file.
std::vector<NamedTensor> tensors_of(const ModelFile& file, const SavedGroup& group);

/// Converts an array for a model file: its name with a first `/`, its shape, its values in the
/// order of this library. Throws FileError for more than seven sizes and for integers.
std::pair<SavedTensor, std::vector<float>> to_saved_tensor(const NamedTensor& tensor);
/// Writes a model file with one ParameterCollection of parameters and tables with these names and
/// shapes, and with `words` if it is not null; `load` expects this order. Arrays without `is_table`
/// can be loaded into a table by load_safetensors only. Throws FileError.
void write_model_tensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                         const SaveOptions& options = {}, const Dict* words = nullptr);

/// Stores arrays in a collection by name, all or none, as `load` does; the first `/` of names is
/// optional. Errors name `origin`. Throws FileError.
LoadReport store_tensors(const std::string& origin, const std::vector<NamedTensor>& tensors,
                         ParameterCollection& pc, const LoadOptions& options = {});

}  // namespace dynet
