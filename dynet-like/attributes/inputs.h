#pragma once

#include <cstdint>

#include "dynet-like/graph/indices.h"
#include "dynet-like/graph/op.h"

namespace dynet {

/// Numbers given by value are the payload; numbers behind a pointer are read again at every
/// forward.
struct InputAttr {
  enum Source : std::uint32_t { in_node, at_pointer, at_vector };
  const void* pointer;  // const float* or const std::vector<float>*
  std::uint64_t count;  // count of numbers when the node was made
  Source source;
  Dim dim;
};

/// The payload holds the indices, then the values.
struct SparseInputAttr {
  double rest;  // value of all other elements
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

/// The current numbers of node i. Throws ArgumentError if a vector has changed its length.
template <class T>
const float* input_values(const Batch<T>& b, std::size_t i);
/// The current indices of node i, one for each batch element. Throws IndexError.
template <class T>
const unsigned* one_hot_indices(const Batch<T>& b, std::size_t i);

}  // namespace dynet
