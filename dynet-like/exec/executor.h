#pragma once

#include <cstdint>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/pod_vector.h"
#include "dynet-like/exec/parameter_access.h"
#include "dynet-like/graph/op.h"
#include "dynet-like/plan/plan.h"

namespace dynet {

using Planner = void (*)(const GraphStore&, NodeId begin, NodeId end, Plan&);

/// Runs a graph: makes a plan for the nodes that have no value yet, runs its steps forward, and the
/// steps of all plans backward. Reads the graph, never changes it. `T` is float, or double for
/// gradient checks.
template <class T>
class Executor {
 public:
  explicit Executor(const GraphStore& graph, Planner planner = plan_in_order)
      : graph_(graph), planner_(planner) {}

  /// Computes every node up to `last` that has no value yet. If a kernel throws, the nodes keep
  /// having none.
  void forward(NodeId last);
  /// Runs a plan for the nodes that come next; forward makes one and calls this.
  void run(const Plan& plan);
  void invalidate();
  /// Forgets all values, but not the random draws: the next forward makes the same again.
  void rewind();
  /// From d loss / d loss = 1. Nodes that need no gradient get none unless `full`.
  void backward(NodeId loss, bool full = false);
  void truncate(NodeId size);
  void clear();
  void release();

  NodeId evaluated() const { return evaluated_; }
  /// Valid for evaluated nodes.
  T* value(NodeId id) const { return value_[id]; }
  /// Zeros for a node below which the loss does not depend. Throws ArgumentError before any
  /// backward pass that covers the node.
  T* gradient(NodeId id);

  void set_check_validity(bool check) { check_ = check; }
  void set_planner(Planner planner) { planner_ = planner; }
  ParameterAccess<T>& parameters() { return parameters_; }

 private:
  void run_step(const Step& step, const NodeId* ids);
  void run_lookup(NodeId id);
  void backward_step(std::uint32_t step);
  const NodeId* live_nodes(const Step& step, std::size_t& count);
  void backward_later(NodeId shared);
  void backward_later(NodeId shared, std::size_t operand, const NodeId* ids, std::size_t count);
  void scatter_rows(NodeId id);
  bool wants_gradient(NodeId id) const { return full_ || graph_.nodes[id].needs_gradient(); }
  Slot<T> gradient_slot(NodeId id);
  void check_forward(NodeId id) const;
  void check_backward(NodeId id, const T* gradient, NodeId operand) const;

  const GraphStore& graph_;
  Planner planner_;
  Plan plan_;
  ParameterAccess<T> parameters_;
  Arena values_, gradients_;

  NodeId evaluated_ = 0;
  std::uint64_t epoch_ = 0;
  struct Run {  // one plan that was run: where its part of what follows begins
    NodeId begin;
    std::uint32_t steps, order;
    Arena::Mark memory;
  };
  PodVector<Run> runs_;
  PodVector<Step> steps_;  // of all runs, first counted in order_
  PodVector<NodeId> order_;
  PodVector<T*> value_, aux_;  // by node

  NodeId differentiated_ = 0;  // nodes below it were covered by the last backward pass
  bool full_ = false;
  bool check_ = false;
  PodVector<T*> gradient_;   // by node; memory of its own, or the parameter's
  PodVector<bool> written_;  // by node
  // Gradients of what the products of a batch share wait until nothing else is left to do but them:
  // by node the last of its uses, and a list of uses.
  struct Use {
    std::uint32_t step, operand, next;
  };
  static constexpr std::uint32_t kNoUse = ~std::uint32_t{0};
  PodVector<std::uint32_t> last_use_;
  PodVector<Use> uses_;
  PodVector<std::size_t> offset_;
  PodVector<T*> pointers_;  // handed to kernels
  PodVector<bool> adds_;
  PodVector<NodeId> live_, together_;
};

extern template class Executor<float>;
extern template class Executor<double>;

}  // namespace dynet
