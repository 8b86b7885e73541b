#pragma once

#include <cstdint>

#include "dynet-like/base/pod_vector.h"
#include "dynet-like/plan/batch_keys.h"
#include "dynet-like/plan/memory.h"
#include "dynet-like/plan/plan.h"

namespace dynet {

/// How plans are made.
enum class PlanPolicy : std::uint8_t {
  /// Every node is a batch of its own, in the order of creation.
  in_order,
  /// Nodes that may run together by the batching rules of their forms, in few batches.
  ///
  /// Nodes are sorted by batch key (form, shapes, shared operands, attributes). Keys that need each
  /// other's values, as the operations of a recurrent step do, form a component; inside a component
  /// nodes run level by level. Every other key runs as one batch: operations outside recurrences,
  /// such as input projections and losses, batch across all time steps. A sum of products in a
  /// component is split: the products before the first that depends on the component are one batch
  /// before it. Sums are so accumulated from left to right in every plan.
  in_batches,
};

/// Memory for making plans, reused so that planning does not allocate.
struct PlanScratch {
  struct Member {  // a batch key
    std::uint32_t component;
    std::uint32_t mark;  // of the search for components
    std::uint32_t low;
    std::uint32_t cursor;  // in the order
    Terms later;           // of a sum of products: the terms that depend on the own component
    bool split;            // the other terms are steps of their own
    bool special;          // nodes of one rank are more than one step, or split
  };
  struct Component {
    std::uint32_t first, end;  // members
    std::uint32_t first_rank, ranks;
    std::uint32_t nodes;
    bool loops;   // some of its nodes depend on others
    bool splits;  // some of its sums of products are split
  };
  struct Ranking {  // determines the rank of the nodes of a key
    std::uint32_t first_rank;
    std::uint32_t operands;     // number of operands that count
    const BatchRule* products;  // of sums of products
    std::uint32_t later;        // as in Member
  };
  BatchKeys keys;
  PodVector<Member> members;              // by key
  PodVector<Ranking> ranking;             // by key
  PodVector<Component> components;        // in an order in which they can run
  PodVector<std::uint32_t> by_component;  // keys
  PodVector<std::uint32_t> user;          // by key: the only key that uses it
  PodVector<Layout> layouts;              // by key
  PodVector<std::uint32_t> stack, rank, cursor, count, next;
  PodVector<BatchKeys::Edge> path;
};

void plan_in_order(const GraphStore& graph, NodeId begin, NodeId end, Plan& plan);
void plan_in_batches(const GraphStore& graph, NodeId begin, NodeId end, PlanScratch& scratch,
                     Plan& plan);

/// Makes plans by one policy.
class PlanMaker {
 public:
  explicit PlanMaker(PlanPolicy policy = PlanPolicy::in_order) : policy_(policy) {}

  PlanPolicy policy() const { return policy_; }
  void set_policy(PlanPolicy policy) { policy_ = policy; }

  /// Makes a plan for the nodes [begin, end), in the memory of an older plan.
  void make(const GraphStore& graph, NodeId begin, NodeId end, Plan& plan) {
    if (policy_ == PlanPolicy::in_order)
      plan_in_order(graph, begin, end, plan);
    else
      plan_in_batches(graph, begin, end, scratch_, plan);
  }
  void release() { scratch_ = {}; }

 private:
  PlanPolicy policy_;
  PlanScratch scratch_;
};

}  // namespace dynet
