#pragma once

#include <cstdint>
#include <span>

#include "dynet-like/base/pod_vector.h"
#include "dynet-like/plan/plan.h"

namespace dynet {

/// Offsets of the gradients that are kept for a whole backward pass.
struct GradientLayout {
  static constexpr std::uint64_t kNoMemory = Plan::kNoMemory;

  PodVector<std::uint64_t> offset;  ///< by node: elements from the start of its device's block
  PodVector<std::uint64_t> extent;  ///< by device: elements in all
};

/// Memory for the gradients of the nodes that are `wanted`, which is by node, in the order of the
/// steps: those of a batch lie side by side. `order` is what the steps count in.
void lay_out_gradients(const GraphStore& graph, std::span<const Step> steps, const NodeId* order,
                       std::span<const bool> wanted, GradientLayout& layout);

}  // namespace dynet
