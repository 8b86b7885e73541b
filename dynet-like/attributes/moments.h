#pragma once

#include <cstdint>

#include "dynet-like/shape/reduction_rules.h"

namespace dynet {

/// Dimensions that a reduction combines, and how.
struct ReduceAttr {
  shape::DimensionBits dims;
  std::uint32_t power;  // the elements are raised to it
  double divisor;       // of the sum; zero: the number of elements
  // Mistakes for the shape rule, zero if there are none: a dimension that none has, and one more
  // than a dimension that was named twice.
  std::uint32_t outside, twice;
};

struct AlongAttr {
  std::uint64_t dimension;
};

}  // namespace dynet
