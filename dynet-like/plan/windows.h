#pragma once

#include <cstddef>
#include <cstdint>

#include "dynet-like/plan/plan.h"

namespace dynet {

/// When a graph is cut into windows, and how large they are.
struct WindowSizes {
  std::size_t large;        ///< elements of the values of a graph that is cut
  std::size_t elements;     ///< of the values of a window, at least
  std::size_t large_nodes;  ///< nodes of a graph that is cut whatever its values take
  std::size_t nodes;        ///< of a window, at least
};
/// Training: 32 MiB of values, windows of 4 MiB.
inline constexpr WindowSizes kTrainingWindows{std::size_t{1} << 23, std::size_t{1} << 20,
                                              std::size_t{1} << 16, std::size_t{1} << 13};
/// Inference, which uses memory again after each window: 8 MiB, 256 KiB. On a device, where every
/// batch costs a launch: 32 MiB, 8 MiB.
inline constexpr WindowSizes kInferenceWindows{std::size_t{1} << 21, std::size_t{1} << 16,
                                               std::size_t{1} << 16, std::size_t{1} << 13};
inline constexpr WindowSizes kDeviceInferenceWindows{std::size_t{1} << 23, std::size_t{1} << 21,
                                                     ~std::size_t{0}, ~std::size_t{0}};

/// Windows of consecutive nodes, each with a plan of its own, for graphs that no cache holds: what
/// a batch leaves is still near when the next one reads it, forward and backward, and so is what is
/// noted of nodes. A window costs batches where larger ones have wider batches.
class Windows {
 public:
  /// A batch is wide with so many columns on average, that is nodes times minibatch.
  static constexpr std::size_t kColumns = 16;

  Windows(const GraphStore& graph, NodeId begin, NodeId end,
          const WindowSizes& sizes = kTrainingWindows);

  /// Whether there may be more than one.
  bool cuts() const { return large_; }
  /// End of the window that begins at `begin`: once it is full, or up to a quarter later where
  /// fewer values reach into the next window. Samples are thus left whole, and windows of like
  /// structure are alike.
  NodeId end_of(NodeId begin);
  /// Whether a plan's batches are wide enough, or no wider than those of a window of half the size.
  /// If not, the next windows are twice as large.
  bool accept(const Plan& plan);

 private:
  NodeId best_cut(NodeId begin, NodeId first, NodeId last, NodeId seen);

  const GraphStore& graph_;
  NodeId end_;
  WindowSizes sizes_;
  std::size_t times_ = 1;    // the size of windows, as a multiple of the smallest
  double refused_ = 0;       // the width of batches of the last window that was refused
  bool size_counts_ = true;  // larger windows may have wider batches
  bool large_;
  PodVector<std::int32_t> reach_;  // by cut: values that begin to reach across, less those that end
  PodVector<bool> used_;           // by node of the window
};

}  // namespace dynet
