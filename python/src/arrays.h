#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bindings.h"

// Values as NumPy has them: sizes in their order, the batch last, column-major memory.

namespace dynet::python {

/// The sizes of an array with these values: without a batch of one.
std::vector<std::size_t> array_shape(const Dim& d);
/// A copy as an array of NumPy, which owns its memory; float or double from either.
template <class To, class From>
nb::object array_copy(const Dim& d, const From* values);
/// As float64, which the old module gave, and as float32.
inline nb::object array64_of(const Dim& d, const float* values) {
  return array_copy<double>(d, values);
}
inline nb::object array32_of(const Dim& d, const float* values) {
  return array_copy<float>(d, values);
}
/// Whether an array of NumPy has these sizes and batch; ones at the end do not matter.
bool has_shape(nb::handle array, const Dim& d);
/// The sizes of an array, to be shown: `(3, 2)`.
std::string shape_text(nb::handle array);
/// A view, which keeps `owner` alive.
nb::object view_of(const Dim& d, float* values, nb::handle owner);
/// An array of the rows, along its first dimension; `row(i)` is where values of row i begin.
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
/// `((3, 2), 4)`: sizes, and the batch.
DimTuple dim_tuple(const Dim& d);
ShapeTuple shape_tuple(const Dim& d);

}  // namespace dynet::python
