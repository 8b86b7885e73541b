#pragma once

#include <cstdint>

#include "dynet-like/graph/indices.h"
#include "dynet-like/shape/dim.h"

namespace dynet {

// Fields that must be equal in a batch come first in every struct.

/// Payload: the indices given by value.
struct PickAttr {
  std::uint64_t dimension;
  Indices indices;
  std::int64_t extreme;
};

/// Entries by dimension; the entry after the last dimension is for the batch. Missing entries are 1
/// (stride), 0 (from) and the whole size (to). Lists longer than kMost store only `count`.
struct StridedAttr {
  static constexpr unsigned kMost = kMaxTensorDim + 1;
  struct List {
    std::uint32_t count;
    std::int32_t v[kMost];
  };
  List strides, from, to;
  std::uint32_t unused;
};

struct RangeAttr {
  std::uint64_t dimension;
  std::uint32_t start, end;
};

struct TransposeAttr {
  std::uint32_t rank;
  std::uint32_t order[kMaxTensorDim];
};

struct ConcatenateAttr {
  std::uint64_t dimension;
};

}  // namespace dynet
