#pragma once

#include <cstdint>

namespace dynet {

/// The gradient of a node that is its operand, times a factor.
struct ScaleGradientAttr {
  double factor;
};

/// One at the largest element along a dimension, the first of several, zero elsewhere.
struct ArgmaxAttr {
  std::uint64_t dimension;
};

}  // namespace dynet
