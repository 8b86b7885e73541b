#pragma once

#include <cstddef>
#include <cstdint>

#include "dynet-like/plan/plan.h"

namespace dynet {

/// Windows of consecutive nodes, each with a plan of its own, for graphs that no cache holds: what
/// a batch leaves is still near when the next one reads it, forward and backward, and so is what is
/// noted of nodes. A window costs batches where larger ones have wider batches.
class Windows {
 public:
  /// Elements of the values of a graph that is cut, and of a window at least; the same in nodes;
  /// and what is wide: columns of a batch, that is nodes times minibatch, on average.
  static constexpr std::size_t kLarge = std::size_t{1} << 23, kWindow = std::size_t{1} << 20,
                               kLargeNodes = std::size_t{1} << 16,
                               kWindowNodes = std::size_t{1} << 13, kColumns = 16;

  Windows(const GraphStore& graph, NodeId begin, NodeId end);

  /// Where the window ends that begins at `begin`: once it is full, or up to a quarter later where
  /// fewer values reach into the next one. Samples are so left whole, and windows of like structure
  /// are alike.
  NodeId end_of(NodeId begin);
  /// Whether a plan's batches are wide enough, or no wider than those of a window of half the size.
  /// If not, the next windows are twice as large.
  bool accept(const Plan& plan);

 private:
  NodeId best_cut(NodeId begin, NodeId first, NodeId last, NodeId seen);

  const GraphStore& graph_;
  NodeId end_;
  std::size_t times_ = 1;    // the size of windows, as a multiple of the smallest
  double refused_ = 0;       // the width of batches of the last window that was refused
  bool size_counts_ = true;  // larger windows may have wider batches
  bool large_;
  PodVector<std::int32_t> reach_;  // by cut: values that begin to reach across, less those that end
  PodVector<bool> used_;           // by node of the window
};

}  // namespace dynet
