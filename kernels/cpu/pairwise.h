#pragma once

#include <limits>

#include "dynet-like/graph/op.h"

namespace dynet::cpu {

/// The smallest probability of which binary_log_loss takes the logarithm, and that logarithm; and
/// the smallest 1 - x that divides its gradient.
inline constexpr double kLeastChance = std::numeric_limits<float>::min();
inline constexpr double kLogOfLeastChance = -87.33654475055310898657;
inline constexpr double kLeastRest = std::numeric_limits<float>::epsilon();

/// sum of x y, of (x - y)^2, of -(y log x + (1 - y) log(1 - x)), for each batch element.
struct DotProduct;
struct SquaredDistance;
struct BinaryLogLoss;
template <class F>
struct Pairwise {
  template <class T>
  static void forward(const Batch<T>& b);
  template <class T>
  static void backward(const GradientBatch<T>& b);
};

}  // namespace dynet::cpu
