#pragma once

#include <cstdint>
#include <vector>

#include "dynet-like/base/pod_vector.h"
#include "dynet-like/plan/plan.h"

namespace dynet {

/// Steps [first, end) between which no thread waits for another: every node of them is owned by
/// the thread that owns its operands.
struct Region {
  std::uint32_t first, end;
  bool shared_out;  ///< several threads run it forward; and backward if `backward`
  bool backward;    ///< no two threads write one gradient, unless all nodes get gradients
  unsigned owners;  ///< threads
};

/// How several threads share out one plan.
struct Regions {
  PodVector<Region> all;          ///< of the plan's steps, in order
  PodVector<std::uint8_t> owner;  ///< by index in the plan's order
};

/// Finds regions. Steps are added to one as long as no node has operands of two owners. Nodes that
/// depend on nothing in the region are given to the least-loaded thread. Operands from before the
/// region are bound to the first thread that would write their gradient.
class RegionFinder {
 public:
  static constexpr unsigned kMostThreads = 255;

  /// For so many threads, kMostThreads at most.
  void find(const GraphStore& graph, const Plan& plan, unsigned threads, Regions& found);

 private:
  static constexpr unsigned kFree = ~0u, kConflict = ~0u - 1;
  static constexpr std::uint8_t kProducts = 255;  // no thread's number

  const NodeId* ids_of(const Step& step) const { return plan_->order.data() + step.first; }
  NodeId operand(NodeId id, std::uint32_t k) const;
  double cost_of(const Step& step) const;
  bool uneven() const;
  void open(std::uint32_t step);
  void close(std::uint32_t step);
  bool bind(const Step& step);
  unsigned owner_of_operands(const Step& step, NodeId id) const;
  void add(const Step& step);
  void add_shared_operands(const Step& step, const Node& node);
  void add_operands(const Step& step, NodeId id, std::uint8_t owner);

  const GraphStore* graph_ = nullptr;
  const Plan* plan_ = nullptr;
  Regions* found_ = nullptr;
  unsigned threads_ = 0;
  Region region_{};                     // the one that is open
  std::vector<double> load_;            // of each thread in it
  PodVector<unsigned> owners_;          // of the nodes of a step
  PodVector<std::uint8_t> node_owner_;  // by node, in the region that is open
  PodVector<std::uint32_t> mark_;       // by node: how the last region met it
  std::uint32_t last_mark_ = 0, inside_ = 0, touched_ = 0;
};

}  // namespace dynet
