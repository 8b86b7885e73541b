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

/// Array with a name, as files of other programs hold it.
struct NamedTensor {
  enum class Type { F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, BOOL };

  std::string name;
  Type type = Type::F32;
  std::vector<std::uint64_t> shape;
  std::string bytes;      ///< little-endian, the last index fastest
  bool is_table = false;  ///< the first index counts the rows of a table; only model files know

  std::uint64_t count() const;
};

/// "F32", as safetensors calls it.
const char* type_name(NamedTensor::Type type);
/// The type of such a name; none if there is no such type.
std::optional<NamedTensor::Type> type_of_name(std::string_view name);
std::size_t type_size(NamedTensor::Type type);
/// `count * size` of these sizes, or throws FileError naming `whose` if it has more than 60 bits.
std::uint64_t byte_count(const std::vector<std::uint64_t>& shape, std::size_t size,
                         const std::string& whose);

/// The values as floats. Exact for F32, F16 and BF16; F64 is rounded. Throws FileError for
/// integers.
std::vector<float> to_floats(const NamedTensor& tensor);

/// The same in the order of ours: the first index the fastest, of a table row after row.
std::vector<float> to_our_order(const NamedTensor& tensor, bool is_table);

/// A tensor of ours as other programs have it, without the first `/` of its name.
NamedTensor to_named_tensor(const SavedTensor& tensor, const float* values);
/// The parameters and tables of a collection as other programs have them: element (i, j) stays
/// element (i, j), a table of n rows {d} is an array of n x d, names are those of the collection
/// without the first `/`.
std::vector<NamedTensor> tensors_of(const ParameterCollection& pc);
/// The same of a group of a model file.
std::vector<NamedTensor> tensors_of(const ModelFile& file, const SavedGroup& group);

/// Array as a file of models stores it: its name with a first `/`, its shape, its values in the
/// order of this library. Throws FileError for more than seven sizes and for types that are no
/// float.
std::pair<SavedTensor, std::vector<float>> to_saved_tensor(const NamedTensor& tensor);
/// A model file with one ParameterCollection of parameters and tables of these names and shapes,
/// and the words if there are any; `load` reads them in this order. Arrays that are not known to be
/// tables are loaded as tables by load_safetensors only. Throws FileError.
void write_model_tensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                         const SaveOptions& options = {}, const Dict* words = nullptr);

/// Stores arrays in a collection, as `load` does: by name, all or nothing; a first `/` may be
/// missing in their names. `origin` is named in errors. Throws FileError.
LoadReport store_tensors(const std::string& origin, const std::vector<NamedTensor>& tensors,
                         ParameterCollection& pc, const LoadOptions& options = {});

}  // namespace dynet
