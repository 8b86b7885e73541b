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
  Terms terms = {};          ///< of a sum of products: the terms that this step computes
  bool accumulates = false;  ///< adds to the terms of an earlier step

  /// Whether it computes the term of a sum of products that operand k belongs to.
  bool computes(const BatchRule& rule, std::size_t k) const {
    return terms.all() || terms.has(rule.term_of(k));
  }
};

/// Order, batches and memory of the nodes [begin, end). A pure function of the graph; running a
/// plan changes neither plan nor graph.
struct Plan {
  NodeId begin = 0, end = 0;
  PodVector<Step> steps;
  PodVector<NodeId> order;
  /// Offset of the value of node begin + i, in elements from the start of the plan's memory, and
  /// offset of its scratch; kNoMemory for a node without value memory or scratch.
  PodVector<std::uint64_t> value;
  PodVector<std::uint64_t> aux;
  /// Position of the operands of node begin + i in the graph's list: a compact copy.
  PodVector<std::uint32_t> first_arg;
  /// Whether the value of node begin + i is overwritten at the end of the plan. Empty: none is.
  PodVector<bool> freed;
  std::uint64_t extent = 0;  ///< number of elements
  /// Start of each device's block of memory. Empty: the graph has one device.
  PodVector<std::uint64_t> block_offsets;
  /// Cached plans: a number unique in the cache, and the current operands before `begin`, in the
  /// order of first use. New plans: 0 and none.
  std::uint64_t number = 0;
  PodVector<NodeId> outside;

  static constexpr std::uint64_t kNoMemory = ~std::uint64_t{0};

  Plan() = default;
  Plan(Plan&&) = default;
  Plan& operator=(Plan&&) = default;
  explicit Plan(const Plan&) = default;  // NOLINT: explicit, against accidental copies

  void reset(NodeId from, NodeId to);
  /// Moves the plan to as many nodes from `from` on, with operand lists from `first_list` on.
  void move_to(NodeId from, std::uint32_t first_list);
  /// Block of device p: first element and number of elements.
  std::uint64_t block_offset(std::size_t p) const {
    return p < block_offsets.size() ? block_offsets[p] : 0;
  }
  std::uint64_t extent_of(std::size_t p) const {
    return (p + 1 < block_offsets.size() ? block_offsets[p + 1] : extent) - block_offset(p);
  }
  /// Bytes of the arrays.
  std::size_t bytes() const;

  /// Lays out the values batch by batch: adjacent, or over operands that donate their memory.
  /// `layouts` are by key, `keys` by node; without them every node gets a layout of its own.
  void lay_out(const GraphStore& graph, std::span<const Layout> layouts = {},
               const std::uint32_t* keys = nullptr);

 private:
  struct Layouts {
    std::span<const Layout> all;
    const std::uint32_t* keys;
  };
  void lay_out_device(const GraphStore& graph, const Layouts& layouts, std::uint32_t device);
  bool lay_out_in_place(const GraphStore& graph, const Step& step, const Layouts& layouts);
  bool take_operands(const GraphStore& graph, const Step& step, const Layouts& layouts,
                     bool with_room);
};

}  // namespace dynet
