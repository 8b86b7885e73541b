#pragma once

#include <cstdint>

#include "dynet-like/graph/indices.h"
#include "dynet-like/shape/dim.h"

namespace dynet {

// Batch attributes come first in every struct.

/// Indices given by value are the payload.
struct PickAttr {
  std::uint64_t dimension;
  Indices indices;
  std::int64_t extreme;
};

/// Entries by dimension, after the last dimension one for the batch. Missing entries are 1, 0 and
/// the whole size. Lists that are too long have a count only.
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
