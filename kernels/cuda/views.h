#pragma once

// Views of batches for kernels. Plain data for host and device.

#include <cstddef>
#include <cstdint>

#include "dynet-like/base/device_code.h"

namespace dynet::cuda {

/// Tensors of one shape, contiguous or given by pointers.
template <class T>
struct TensorArray {
  T* first;
  std::size_t step;
  T* const* each;  // null: contiguous

  DYNET_DEVICE T* operator[](std::size_t i) const { return each ? each[i] : first + i * step; }
};

/// Distinct targets of gradients; target j gets the sum over the nodes node(begin(j)), ...,
/// node(end(j) - 1), in this order, so that the sum is deterministic.
struct Targets {
  std::size_t count;           // number of targets
  TensorArray<float> to;       // by target
  const std::uint32_t* first;  // by target, plus the end; null: target j belongs to node j alone
  const std::uint32_t* nodes;
  const std::uint8_t* adds;  // by target; null: all as `all_add`
  bool all_add;

  DYNET_DEVICE std::uint32_t begin(std::size_t j) const {
    return first ? first[j] : static_cast<std::uint32_t>(j);
  }
  DYNET_DEVICE std::uint32_t end(std::size_t j) const {
    return first ? first[j + 1] : static_cast<std::uint32_t>(j) + 1;
  }
  DYNET_DEVICE std::uint32_t node(std::uint32_t m) const { return nodes ? nodes[m] : m; }
  DYNET_DEVICE bool add(std::size_t j) const { return adds ? adds[j] != 0 : all_add; }
  /// Stores v in, or adds it to, element e of target j.
  DYNET_DEVICE void put(std::size_t j, std::size_t e, float v) const {
    float* const p = to[j] + e;
    *p = add(j) ? *p + v : v;
  }
};

/// Gradient targets with two summation steps, for targets shared by many nodes: `first` sums groups
/// of nodes into `sums`, `then` adds up these sums.
struct GradientTargets {
  Targets first;
  std::size_t most;       // maximum number of nodes of a target of `first`
  Targets then;           // its "nodes" are the tensors of `sums`; usually empty
  std::size_t most_sums;  // maximum number of sums of a target of `then`
  TensorArray<const float> sums;
};

}  // namespace dynet::cuda
