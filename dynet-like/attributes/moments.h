#pragma once

#include <cstdint>

#include "dynet-like/shape/reduction_rules.h"

namespace dynet {

/// Dimensions of a reduction, and its power and divisor.
struct ReduceAttr {
  shape::DimensionBits dims;
  std::uint32_t power;  // exponent of the elements
  double divisor;       // of the sum; zero: the number of elements
  // Errors for the shape rule, zero if there are none: a dimension outside of any tensor, and one
  // plus a dimension that was given twice.
  std::uint32_t outside, twice;
};

struct AlongAttr {
  std::uint64_t dimension;
};

}  // namespace dynet
