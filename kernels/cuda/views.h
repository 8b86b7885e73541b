#pragma once

// Views of batches for kernels. Plain data, for both sides.

#include <cstddef>
#include <cstdint>

#include "dynet-like/base/device_code.h"

namespace dynet::cuda {

/// Tensors of one shape: side by side, or each where its pointer says.
template <class T>
struct TensorArray {
  T* first;
  std::size_t step;
  T* const* each;  // null: side by side

  DYNET_DEVICE T* operator[](std::size_t i) const { return each ? each[i] : first + i * step; }
};

/// Targets of gradients, all different; target j gets the sum over the nodes node(begin(j)), ...,
/// node(end(j) - 1), in this order, so that the sum is always the same.
struct Targets {
  std::size_t count;           // targets
  TensorArray<float> to;       // by target
  const std::uint32_t* first;  // by target, and one more; null: target j is of node j alone
  const std::uint32_t* nodes;
  const std::uint8_t* adds;  // by target; null: all like `all_add`
  bool all_add;

  DYNET_DEVICE std::uint32_t begin(std::size_t j) const {
    return first ? first[j] : static_cast<std::uint32_t>(j);
  }
  DYNET_DEVICE std::uint32_t end(std::size_t j) const {
    return first ? first[j + 1] : static_cast<std::uint32_t>(j) + 1;
  }
  DYNET_DEVICE std::uint32_t node(std::uint32_t m) const { return nodes ? nodes[m] : m; }
  DYNET_DEVICE bool add(std::size_t j) const { return adds ? adds[j] != 0 : all_add; }
  /// v becomes, or is added to, element e of target j.
  DYNET_DEVICE void put(std::size_t j, std::size_t e, float v) const {
    float* const p = to[j] + e;
    *p = add(j) ? *p + v : v;
  }
};

/// The same in two steps, where many nodes share a target: their parts of the gradient are added up
/// a few nodes at a time, in targets of their own, and those sums then.
struct GradientTargets {
  Targets first;
  std::size_t most;       // nodes that share a target of `first`
  Targets then;           // its "nodes" are the tensors of `sums`; often of no targets
  std::size_t most_sums;  // that share a target of `then`
  TensorArray<const float> sums;
};

}  // namespace dynet::cuda
