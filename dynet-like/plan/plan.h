#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dynet-like/base/pod_vector.h"
#include "dynet-like/graph/op.h"

namespace dynet {

struct Layout;

/// Nodes that run as one batch: order[first, first + count).
struct Step {
  std::uint32_t first;
  std::uint32_t count;
  Terms terms = {};          ///< of a sum of products: what this step computes
  bool accumulates = false;  ///< it adds to the terms before, which an earlier step has left

  /// Whether it computes the term of a sum of products that operand k belongs to.
  bool computes(const BatchRule& rule, std::size_t k) const {
    return terms.all() || terms.has(rule.term_of(k));
  }
};

/// How the nodes [begin, end) of a graph are run: in what order, in what batches, with which
/// memory. A value, made from the graph alone; running it changes neither.
struct Plan {
  NodeId begin = 0, end = 0;
  PodVector<Step> steps;
  PodVector<NodeId> order;
  /// Offset of the value of node begin + i, in elements from the start of the plan's memory; the
  /// scratch of the node comes directly behind it, at `aux`. Nodes without memory of their own have
  /// kNoMemory.
  PodVector<std::uint64_t> value;
  PodVector<std::uint64_t> aux;
  /// Position of the operands of node begin + i in the graph's list: a copy, close together.
  PodVector<std::uint32_t> first_arg;
  /// Whether, at the end, other values lie where that of node begin + i was. Empty: none.
  PodVector<bool> freed;
  std::uint64_t extent = 0;  ///< elements in all
  /// Start of the memory of each device: one block for each. Empty: all nodes are on the graph's
  /// own device.
  PodVector<std::uint64_t> block_offsets;
  /// Remembered plans only: the plan's own number, and the nodes before `begin` that its nodes use
  /// now, in the order of first use; 0 and none if the plan was made just now.
  std::uint64_t number = 0;
  PodVector<NodeId> outside;

  static constexpr std::uint64_t kNoMemory = ~std::uint64_t{0};

  Plan() = default;
  Plan(Plan&&) = default;
  Plan& operator=(Plan&&) = default;
  explicit Plan(const Plan&) = default;  // NOLINT: explicit, so that none is copied by chance

  void reset(NodeId from, NodeId to);
  /// Makes it the plan of as many nodes that begin at `from`, with operands listed from
  /// `first_list` on in the graph.
  void move_to(NodeId from, std::uint32_t first_list);
  /// The elements on device p, which are counted from `block_offset(p)`.
  std::uint64_t block_offset(std::size_t p) const {
    return p < block_offsets.size() ? block_offsets[p] : 0;
  }
  std::uint64_t extent_of(std::size_t p) const {
    return (p + 1 < block_offsets.size() ? block_offsets[p + 1] : extent) - block_offset(p);
  }
  /// Held by a copy, itself aside.
  std::size_t bytes() const;

  /// Gives memory to the nodes, batch by batch, the values of a batch side by side; or that of
  /// their operands, where those donate it. `layouts` are by key, `keys` by node. Where
  /// none are given each node has its own.
  void lay_out(const GraphStore& graph, std::span<const Layout> layouts = {},
               const std::uint32_t* keys = nullptr);

 private:
  struct Layouts {
    std::span<const Layout> all;
    const std::uint32_t* keys;
  };
  void lay_out_device(const GraphStore& graph, const Layouts& layouts, std::uint32_t device);
  bool lay_out_in_place(const GraphStore& graph, const Step& step, const Layouts& layouts);
};

}  // namespace dynet
