#pragma once

#include <cstdint>

#include "dynet-like/base/pod_vector.h"
#include "dynet-like/plan/memory.h"
#include "dynet-like/plan/plan.h"
#include "dynet-like/plan/signatures.h"

namespace dynet {

/// How plans are made.
enum class PlanPolicy : std::uint8_t {
  /// Every node a batch of its own, in the order of creation.
  in_order,
  /// Nodes that may run together by their forms' batching rules, in few batches.
  ///
  /// Nodes are sorted by signature (form, shapes, shared operands, attributes). Signatures that
  /// need each other's values, as the operations of a recurrent step do, form a component; inside
  /// it nodes run level by level. All other signatures run as one batch each: ops outside
  /// recurrences, such as input projections and losses, batch across all time steps. A sum of
  /// products in a component is cut: the products before the first that waits for the component are
  /// one batch before it. Sums are so made from left to right in every plan.
  in_batches,
};

/// Memory that making a plan takes, kept from plan to plan so that planning does not allocate.
struct PlanScratch {
  struct Member {  // a signature, by number
    std::uint32_t component;
    std::uint32_t mark;  // of the search for components
    std::uint32_t low;
    std::uint32_t cursor;  // in the order
    Terms later;           // of a sum of products: the terms that wait for their own component
    bool split;            // the other terms are steps of their own
    bool special;          // nodes that are ready together are more than one step, or split
  };
  struct Component {
    std::uint32_t first, end;  // members
    std::uint32_t first_rank, ranks;
    std::uint32_t nodes;
    bool loops;   // some of its nodes wait for others
    bool splits;  // some of its sums of products do
  };
  struct Ranking {  // what gives nodes of a signature their rank
    std::uint32_t first_rank;
    std::uint32_t operands;     // those to wait for
    const BatchRule* products;  // of sums of products
    std::uint32_t later;        // as in Member
  };
  Signatures signatures;
  PodVector<Member> members;              // by number of the signature
  PodVector<Ranking> ranking;             // by number of the signature
  PodVector<Component> components;        // in an order in which they can run
  PodVector<std::uint32_t> by_component;  // signatures
  PodVector<std::uint32_t> user;          // by signature: the only one that uses it
  PodVector<Layout> layouts;              // by signature
  PodVector<std::uint32_t> stack, rank, cursor, count, next;
  PodVector<Signatures::Edge> path;
};

/// Makes plans by one policy.
class Planner {
 public:
  explicit Planner(PlanPolicy policy = PlanPolicy::in_order) : policy_(policy) {}

  PlanPolicy policy() const { return policy_; }
  void set_policy(PlanPolicy policy) { policy_ = policy; }

  /// A plan for the nodes [begin, end), in the memory of an older one.
  void make(const GraphStore& graph, NodeId begin, NodeId end, Plan& plan);

  void release() { scratch_ = {}; }

 private:
  PlanPolicy policy_;
  PlanScratch scratch_;
};

}  // namespace dynet
