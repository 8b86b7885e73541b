#pragma once

#include <cstdint>

#include "dynet-like/shape/reduction_rules.h"

namespace dynet {

/// Dimensions of a reduction, and its function.
struct ReduceAttr {
  shape::DimensionBits dims;
  std::uint32_t power;  // power of each element before the sum
  double divisor;       // divisor of the sum; zero: the number of elements
  // User mistakes for the shape rule, zero if there are none: a dimension out of range, and one
  // plus a dimension that is named twice.
  std::uint32_t outside, twice;
};

struct AlongAttr {
  std::uint64_t dimension;
};

}  // namespace dynet
