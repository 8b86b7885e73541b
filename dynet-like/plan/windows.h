#pragma once

#include <cstddef>

#include "dynet-like/plan/plan.h"

namespace dynet {

/// Windows of consecutive nodes, each with a plan of its own, for graphs that no cache holds: what
/// a batch leaves is still near when the next one reads it, forward and backward. A window costs
/// batches, so it must leave them wide.
class Windows {
 public:
  /// Elements of the values of a graph that is cut, and of a window at least; and what the batches
  /// of a window must have on average: columns, that is nodes times minibatch.
  static constexpr std::size_t kLarge = std::size_t{1} << 23, kWindow = std::size_t{1} << 20,
                               kColumns = 16;

  Windows(const GraphStore& graph, NodeId begin, NodeId end);

  /// Where the window ends that begins at `begin`.
  NodeId end_of(NodeId begin) const;
  /// Whether a plan's batches are wide enough. If not, the next windows are twice as large.
  bool accept(const Plan& plan);

 private:
  const GraphStore& graph_;
  NodeId end_;
  std::size_t elements_ = kWindow;
  bool large_;
};

}  // namespace dynet
