#pragma once

#include <cstdint>
#include <span>

#include "dynet-like/base/pod_vector.h"
#include "dynet-like/plan/plan.h"

namespace dynet {

/// Offsets of the gradients that are stored for a whole backward pass.
struct GradientLayout {
  static constexpr std::uint64_t kNoMemory = Plan::kNoMemory;

  PodVector<std::uint64_t> offset;  ///< by node: elements from the start of its device's block
  PodVector<std::uint64_t> second;  ///< the same of second results; empty if there are none
  PodVector<std::uint64_t> sums;    ///< the same of OpForm::sums
  PodVector<std::uint64_t> extent;  ///< by device: elements of the block
};

/// Allocates the gradients of the `wanted` nodes, in the order of the steps; gradients of a batch
/// are adjacent. `wanted` is by node; steps are ranges of `order`.
void lay_out_gradients(const GraphStore& graph, std::span<const Step> steps, const NodeId* order,
                       std::span<const bool> wanted, GradientLayout& layout);

}  // namespace dynet
