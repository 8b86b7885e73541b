#pragma once

#include <cstdint>

#include "dynet-like/base/pod_vector.h"
#include "dynet-like/plan/batch_keys.h"
#include "dynet-like/plan/memory.h"
#include "dynet-like/plan/plan.h"

namespace dynet {

/// How plans are made.
enum class PlanPolicy : std::uint8_t {
  /// Every node is a step of its own, in the order of creation.
  in_order,
  /// Nodes are batched by the batching rules of their forms, into few batches.
  ///
  /// Nodes are sorted by batch key (form, shapes, shared operands, attributes). Keys that depend on
  /// each other, such as the operations of a recurrent step, form a component; inside a component
  /// nodes run level by level. Every other key runs as one batch: operations outside recurrences,
  /// such as input projections and losses, batch across all time steps. A sum of products in a
  /// component is split: the products before the first one that depends on the component form one
  /// batch, before the component. Sums are accumulated from left to right in every plan.
  in_batches,
};

/// Memory for planning, reused so that planning does not allocate.
struct PlanScratch {
  struct Member {  // a batch key
    std::uint32_t component;
    std::uint32_t mark;  // order of the first visit in find_components
    std::uint32_t low;
    std::uint32_t cursor;  // next position in Plan::order for its earlier terms
    Terms later;           // of a sum of products: the terms that depend on the own component
    bool split;            // the other terms are a step of their own
    bool special;          // split, never batched, or with own matrices
  };
  struct Component {
    std::uint32_t first, end;  // range of `by_component`
    std::uint32_t first_rank, ranks;
    std::uint32_t nodes;
    bool loops;   // some of its nodes depend on nodes of the component
    bool splits;  // some of its sums of products are split
  };
  struct Ranking {  // determines the rank of the nodes of a key
    std::uint32_t first_rank;
    std::uint32_t operands;     // number of operands that determine the rank
    const BatchRule* products;  // rule of a sum of products, else null
    std::uint32_t later;        // bits of Member::later
  };
  BatchKeys keys;
  PodVector<Member> members;              // by key
  PodVector<Ranking> ranking;             // by key
  PodVector<Component> components;        // in topological order
  PodVector<std::uint32_t> by_component;  // keys by component
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

  /// Makes a plan for the nodes [begin, end), reusing the memory of `plan`.
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
