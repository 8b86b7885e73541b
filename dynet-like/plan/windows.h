#pragma once

#include <cstddef>
#include <cstdint>

#include "dynet-like/plan/plan.h"

namespace dynet {

/// Thresholds for cutting a graph into windows, and sizes of windows.
struct WindowSizes {
  std::size_t large;        ///< elements of values from which on a graph is cut
  std::size_t elements;     ///< minimum elements of values in a window
  std::size_t large_nodes;  ///< nodes from which on a graph is cut
  std::size_t nodes;        ///< minimum nodes in a window
};
/// Training: 32 MiB of values, windows of 4 MiB.
inline constexpr WindowSizes kTrainingWindows{std::size_t{1} << 23, std::size_t{1} << 20,
                                              std::size_t{1} << 16, std::size_t{1} << 13};
/// Inference, which reuses memory after each window: 8 MiB, 256 KiB. On a device, where every batch
/// costs a launch: 32 MiB, 8 MiB.
inline constexpr WindowSizes kInferenceWindows{std::size_t{1} << 21, std::size_t{1} << 16,
                                               std::size_t{1} << 16, std::size_t{1} << 13};
inline constexpr WindowSizes kDeviceInferenceWindows{std::size_t{1} << 23, std::size_t{1} << 21,
                                                     ~std::size_t{0}, ~std::size_t{0}};

/// Windows of consecutive nodes, each with its own plan, for graphs larger than the cache: results
/// of a batch and the records of its nodes are still cached when the next batch, or backward, reads
/// them. Smaller windows have more and narrower batches.
class Windows {
 public:
  /// Columns (nodes times minibatch) per batch, on average, from which on batches are wide.
  static constexpr std::size_t kColumns = 16;

  Windows(const GraphStore& graph, NodeId begin, NodeId end,
          const WindowSizes& sizes = kTrainingWindows);

  /// Whether the graph may be cut.
  bool cuts() const { return large_; }
  /// End of the window that begins at `begin`: when it is full, or up to a quarter later if fewer
  /// values cross the cut. Cuts thus fall between samples, and windows of like structure have one
  /// plan.
  NodeId end_of(NodeId begin);
  /// Whether a plan's batches are wide enough, or hardly wider than in a window of half the size,
  /// which is the size of later windows then. If not, later windows are twice as large.
  bool accept(const Plan& plan);

 private:
  NodeId best_cut(NodeId begin, NodeId first, NodeId last, NodeId seen);

  const GraphStore& graph_;
  NodeId end_;
  WindowSizes sizes_;
  std::size_t times_ = 1;    // size of windows as a multiple of the smallest
  double refused_ = 0;       // batch width of the last refused window
  bool size_counts_ = true;  // larger windows may have wider batches
  bool large_;
  PodVector<std::int32_t> reach_;  // by cut: values that start to cross it, minus values that stop
  PodVector<bool> used_;           // by node of the window
};

}  // namespace dynet
