#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dynet-like/base/pod_vector.h"

namespace dynet::cuda {

/// Which of some items have the same target. Those without one, at null, are left out.
class TargetGroups {
 public:
  /// Numbers the targets in the order of their first items, and returns how many there are.
  std::size_t number(float* const* targets, std::size_t items);
  /// Finds the items of each, in their order.
  void list_items();

  std::size_t size() const { return targets_.size(); }
  float* target(std::size_t t) const { return targets_[t]; }
  /// After `list_items`.
  std::span<const std::uint32_t> items(std::size_t t) const {
    const std::size_t begin = t > 0 ? ends_[t - 1] : 0;
    return {items_.data() + begin, ends_[t] - begin};
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  PodVector<float*> targets_;                // each once
  PodVector<std::uint32_t> number_, slots_;  // of each item's target; a hash table of these
  PodVector<std::uint32_t> items_, ends_;    // target after target
};

}  // namespace dynet::cuda
