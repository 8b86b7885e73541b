#pragma once

#include <cstdint>

#include "dynet-like/graph/indices.h"
#include "dynet-like/graph/op.h"

namespace dynet {

/// Numbers given by value (the payload), or behind a pointer that every forward reads again.
struct InputAttr {
  enum Source : std::uint32_t { in_node, at_pointer, at_vector };
  const void* pointer;  // const float* or const std::vector<float>*
  std::uint64_t count;  // number of values
  Source source;
  Dim dim;
};

/// Payload: the indices, then the values.
struct SparseInputAttr {
  double rest;  // default of elements without an index
  std::uint64_t indices, values;
  Dim dim;
  std::uint32_t unused;
};

struct ConstantAttr {
  double value;
  Dim dim;
  std::uint32_t unused = 0;
};

struct OneHotAttr {
  Indices indices;
  std::int64_t extreme;
  std::uint64_t size;
};

/// Returns the numbers of node i, read now. Throws ArgumentError if a vector's length has changed.
template <class T>
const float* input_values(const Batch<T>& b, std::size_t i);
/// Returns the indices of node i, read now, one for each batch element. Throws IndexError.
template <class T>
const unsigned* one_hot_indices(const Batch<T>& b, std::size_t i);

}  // namespace dynet
