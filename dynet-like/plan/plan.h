#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dynet-like/base/pod_vector.h"
#include "dynet-like/graph/op.h"
#include "dynet-like/plan/signatures.h"

namespace dynet {

/// Nodes that run as one batch: order[first, first + count).
struct Step {
  std::uint32_t first;
  std::uint32_t count;
  Terms terms = {};          ///< of a sum of products: what this step computes
  bool accumulates = false;  ///< it adds to the terms before, which an earlier step has left
};

/// Memory of the planner, kept from plan to plan so that planning does not allocate.
struct PlanScratch {
  struct Member {  // a signature, by number
    std::uint32_t component;
    std::uint32_t mark;  // of the search for components
    std::uint32_t low;
    std::uint32_t cursor;  // in the order
    Terms later;           // of a sum of products: the terms that wait for their own component
    bool split;            // the other terms are steps of their own
  };
  struct Component {
    std::uint32_t first, end;  // members
    std::uint32_t first_rank, ranks;
    std::uint32_t nodes;
    bool loops;   // some of its nodes wait for others
    bool splits;  // some of its sums of products do
  };
  struct Free {
    std::uint64_t at, size;
  };
  Signatures signatures;
  PodVector<Member> members;              // by number of the signature
  PodVector<Component> components;        // in an order in which they can run
  PodVector<std::uint32_t> by_component;  // signatures
  PodVector<std::uint32_t> user;          // by signature: the only one that uses it
  PodVector<bool> donates;                // by signature
  PodVector<std::uint32_t> stack, rank, cursor, count;
  PodVector<Signatures::Edge> path;
  PodVector<NodeId> sorted;
  // Of plans that forget.
  PodVector<std::uint32_t> window, time, root, last, next, first_freed;
  PodVector<std::uint64_t> amount;
  PodVector<Free> free;
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
  /// Where the operands of node begin + i are listed in the graph: a copy, close together.
  PodVector<std::uint32_t> first_arg;
  /// Whether, at the end, other values lie where that of node begin + i was. Empty: none.
  PodVector<bool> freed;
  std::uint64_t extent = 0;  ///< elements in all
  /// Where the memory of each device begins: one block for each. Empty: all nodes are on the
  /// graph's own device.
  PodVector<std::uint64_t> block_offsets;
  PlanScratch scratch;

  static constexpr std::uint64_t kNoMemory = ~std::uint64_t{0};

  void reset(NodeId from, NodeId to);
  /// The elements on device p, which are counted from `block_offset(p)`.
  std::uint64_t block_offset(std::size_t p) const {
    return p < block_offsets.size() ? block_offsets[p] : 0;
  }
  std::uint64_t extent_of(std::size_t p) const {
    return (p + 1 < block_offsets.size() ? block_offsets[p + 1] : extent) - block_offset(p);
  }
  /// The same plan, without the planner's memory.
  Plan copy() const;
  /// Held by such a copy, itself aside.
  std::size_t bytes() const;
  /// Gives memory to the nodes, batch by batch, the values of a batch side by side; or that of
  /// their operands, where those are of a signature that donates.
  void lay_out(const GraphStore& graph, std::span<const bool> donates = {});

 private:
  void lay_out_device(const GraphStore& graph, std::span<const bool> donates, std::uint32_t device);
  bool lay_out_in_place(const GraphStore& graph, const Step& step, std::span<const bool> donates);
};

using Planner = void (*)(const GraphStore&, NodeId begin, NodeId end, Plan&);

/// Every node a batch of its own, in the order of creation.
void plan_in_order(const GraphStore& graph, NodeId begin, NodeId end, Plan& plan);

/// Nodes that may run together by their forms' batching rules, in few batches.
///
/// Nodes are sorted by signature (form, shapes, shared operands, attributes). Signatures that need
/// each other's values, as the operations of a recurrent step do, form a component; inside it
/// nodes run level by level. All other signatures run as one batch each: ops outside recurrences,
/// such as input projections and losses, batch across all time steps. A sum of products in a
/// component is cut: the products before the first that waits for the component are one batch
/// before it. Sums are so made from left to right in every plan.
void plan_in_batches(const GraphStore& graph, NodeId begin, NodeId end, Plan& plan);

/// As in batches, for graphs that are run forward only: the memory of a value is reused after
/// its last use. Not freed are values that are unused or that later nodes of the graph use,
/// and those of the last nodes, which new nodes are likely to use.
///
/// A graph on several devices gets a plan in batches.
///
/// Ops outside recurrences are then not one batch, but one for each window of time: the levels of
/// all components together, cut where the values of a window take 1 MiB.
void plan_with_reuse(const GraphStore& graph, NodeId begin, NodeId end, Plan& plan);

/// The same above 8 MiB of values, in batches below: there is little to forget then, and making
/// such a plan takes two or three times as long.
void plan_for_inference(const GraphStore& graph, NodeId begin, NodeId end, Plan& plan);

/// Whether two nodes may be in one batch, were they ready at the same time: form, shapes, shared
/// operands and the whole signature are compared.
bool same_signature(const GraphStore& graph, const Node& a, const Node& b);

}  // namespace dynet
