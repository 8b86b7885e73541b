#pragma once

#include <cstddef>
#include <cstdint>

#include "dynet-like/base/pod_vector.h"
#include "dynet-like/graph/node.h"

namespace dynet {

/// Nodes that run as one batch: order[first, first + count).
struct Step {
  std::uint32_t first;
  std::uint32_t count;
};

/// How the nodes [begin, end) of a graph are run: in what order, in what batches, with which
/// memory. A value, made from the graph alone; running it changes neither.
struct Plan {
  NodeId begin = 0, end = 0;
  PodVector<Step> steps;
  PodVector<NodeId> order;
  /// Where the value of node begin + i lies, in elements from the start of the plan's memory; the
  /// scratch of the node comes right behind it, at `aux`. Nodes without memory of their own have
  /// kNoMemory.
  PodVector<std::uint64_t> value;
  PodVector<std::uint64_t> aux;
  std::uint64_t extent = 0;  ///< elements in all

  static constexpr std::uint64_t kNoMemory = ~std::uint64_t{0};

  void reset(NodeId from, NodeId to);
};

/// Every node a batch of its own, in the order of creation.
void plan_in_order(const GraphStore& graph, NodeId begin, NodeId end, Plan& plan);

/// Nodes that may run together by their forms' batching rules, level by level; the values of a
/// batch lie side by side. The order inside a batch is that of creation.
void plan_by_level(const GraphStore& graph, NodeId begin, NodeId end, Plan& plan);

/// Whether two nodes may be in one batch, levels apart: form, shapes, shared operands and the whole
/// signature are compared.
bool same_signature(const GraphStore& graph, const Node& a, const Node& b);

}  // namespace dynet
