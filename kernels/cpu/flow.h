#pragma once

#include "dynet-like/graph/op.h"

namespace dynet::cpu {

/// The gradient of a node that is its operand, times a factor.
struct ScaleGradientAttr {
  double factor;
};
template <class T>
void scale_gradient_backward(const GradientBatch<T>& b);

/// One at the largest element along a dimension, the first of several, zero elsewhere.
struct ArgmaxAttr {
  std::uint64_t dimension;
};
template <class T>
void argmax_forward(const Batch<T>& b);

}  // namespace dynet::cpu
