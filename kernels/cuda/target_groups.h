#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dynet-like/base/pod_vector.h"

namespace dynet::cuda {

/// Groups items by their target. Items with a null target are left out.
class TargetGroups {
 public:
  /// Numbers the distinct targets in the order of their first items, and returns their count.
  std::size_t number(float* const* targets, std::size_t items);
  /// Lists the items of each target, in order.
  void list_items();

  std::size_t size() const { return targets_.size(); }
  float* target(std::size_t t) const { return targets_[t]; }
  /// Items of a target; requires `list_items`.
  std::span<const std::uint32_t> items(std::size_t t) const {
    const std::size_t begin = t > 0 ? ends_[t - 1] : 0;
    return {items_.data() + begin, ends_[t] - begin};
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  PodVector<float*> targets_;                // distinct targets
  PodVector<std::uint32_t> number_, slots_;  // target of each item; hash table of target numbers
  PodVector<std::uint32_t> items_, ends_;    // items by target; end of each target's items
};

}  // namespace dynet::cuda
