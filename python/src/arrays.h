#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bindings.h"

// Values as NumPy arrays: equal sizes, the batch last, column-major memory.

namespace dynet::python {

/// Sizes of an array with these values, without a batch of one.
std::vector<std::size_t> array_shape(const Dim& d);
/// A copy as a NumPy array that owns its memory, with conversion between float and double.
template <class To, class From>
nb::object array_copy(const Dim& d, const From* values);
/// float64, as in DyNet, and float32 arrays.
inline nb::object array64_of(const Dim& d, const float* values) {
  return array_copy<double>(d, values);
}
inline nb::object array32_of(const Dim& d, const float* values) {
  return array_copy<float>(d, values);
}
/// True if a NumPy array has these sizes and batch; trailing ones are ignored.
bool has_shape(nb::handle array, const Dim& d);
/// Sizes of an array as text: `(3, 2)`.
std::string shape_text(nb::handle array);
/// A view that keeps `owner` alive.
nb::object view_of(const Dim& d, float* values, nb::handle owner);
/// Array of rows along the first dimension; `row(i)` is the address of row i.
template <class Row>
nb::object rows_array(const Dim& d, std::size_t n, Row row) {
  std::vector<float> all(n * d.size());
  for (std::size_t i = 0; i < n; ++i) {
    const auto& values = row(i);
    for (std::size_t k = 0; k < d.size(); ++k) all[i + k * n] = values[k];
  }
  Dim with_rows = d;
  with_rows.insert_dim(0, static_cast<unsigned>(n));
  return array64_of(with_rows, all.data());
}

using ShapeTuple = nb::typed<nb::tuple, int, nb::ellipsis>;
using DimTuple = nb::typed<nb::tuple, ShapeTuple, int>;
/// `((3, 2), 4)`: the sizes and the batch.
DimTuple dim_tuple(const Dim& d);
ShapeTuple shape_tuple(const Dim& d);

}  // namespace dynet::python
