#pragma once

#include "dynet-like/graph/op.h"
#include "dynet-like/shape/reduction_rules.h"

namespace dynet::cpu {

/// What a reduction takes together, and how.
struct ReduceAttr {
  shape::DimensionBits dims;
  std::uint32_t power;  // the elements are raised to it
  double divisor;       // of the sum; zero: the number of elements
  // Mistakes for the shape rule, zero if there are none: a dimension that none has, and one more
  // than a dimension that was named twice.
  std::uint32_t outside, twice;
};

/// The sum of x^power over the dimensions, divided.
template <class T>
void moment_forward(const Batch<T>& b);
template <class T>
void moment_backward(const GradientBatch<T>& b);

/// The root of the sum of (x - m)^2, divided, where m is the sum of x, divided; gradient 0 at 0.
template <class T>
void deviation_forward(const Batch<T>& b);
template <class T>
void deviation_backward(const GradientBatch<T>& b);
/// The m.
std::size_t deviation_aux(const GraphStore& graph, const Node& n);

struct AlongAttr {
  std::uint64_t dimension;
};

/// The largest or smallest element along a dimension; the first of several equal ones gets the
/// gradient.
template <bool kLargest>
struct ExtremeAlong {
  template <class T>
  static void forward(const Batch<T>& b);
  template <class T>
  static void backward(const GradientBatch<T>& b);
};
/// Where it was.
std::size_t extreme_along_aux(const GraphStore& graph, const Node& n);

/// The sums of the first 1, 2, ... elements along a dimension.
template <class T>
void cumulative_sum_forward(const Batch<T>& b);
template <class T>
void cumulative_sum_backward(const GradientBatch<T>& b);

}  // namespace dynet::cpu
