#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dynet-like/plan/plan_maker.h"
#include "dynet-like/plan/verify.h"

namespace dynet {

/// Plans of graphs that come again, found by structure: by everything that a planner reads.
///
/// The position of a plan's nodes in a graph does not matter, nor do the nodes before them that
/// they use: the steps of a decoder share a plan, and so do windows of a large graph. A hash only
/// selects candidates, which are compared in full. A structure seen once costs a hash and no
/// memory; a structure seen twice is stored, as long as the bytes last.
class PlanCache {
 public:
  /// Nodes, and their operands: other plans are not kept. Fewer nodes are only behind a plan of
  /// kMany, as those of a loss, so that all of the graph is remembered.
  static constexpr NodeId kFewest = 3, kMany = 16, kMost = 65536, kMostOperands = 8 * kMost;

  /// Hashes that select candidates are compared in the bits of `hash_mask` only.
  explicit PlanCache(std::size_t bytes = std::size_t{8} << 20,
                     std::uint64_t hash_mask = ~std::uint64_t{0});
  ~PlanCache();

  /// The plan that `maker` makes, made now or remembered; valid until the next call.
  const Plan& plan(const GraphStore& graph, NodeId begin, NodeId end, PlanMaker& maker);
  /// Forgets everything and gives the memory back.
  void release();

  std::size_t bytes() const { return bytes_; }
  std::size_t plans() const { return plans_; }
  std::size_t hits() const { return hits_; }

 private:
  struct Kept;
  struct Slot {
    std::uint64_t hash = 0;
    std::uint64_t used = 0;  // when
    std::unique_ptr<Kept> kept;
  };

  /// Operands of the nodes of a plan, independent of its position in a graph: the operands of all
  /// nodes, list by list. Operands in the plan count from its begin, operands before it from
  /// kOutside, in the order of first use.
  class Operands {
   public:
    static constexpr NodeId kOutside = NodeId{1} << 31;  // more than nodes in a graph

    void list(const GraphStore& graph, NodeId begin, NodeId end);
    std::span<const NodeId> all() const { return all_; }
    /// Operands before the plan, by number.
    std::span<const NodeId> outside() const { return {outside_.data(), outside_.size()}; }
    void release() { *this = {}; }

   private:
    std::span<const NodeId> all_;
    PodVector<NodeId> list_, outside_;
    PodVector<std::uint32_t> number_;  // by node, if it is the one of that number in `outside_`
  };

  static constexpr std::size_t kWays = 4, kSets = 256, kSeen = 4096;
  static constexpr std::uint64_t kReluctance = 8;

  const Plan& find_or_make(const GraphStore& graph, NodeId begin, NodeId end, PlanMaker& maker);
  bool is_worth_it(const GraphStore& graph, NodeId begin, NodeId end) const;
  std::span<Slot> ways(std::uint64_t hash);
  void keep(const GraphStore& graph, PlanPolicy policy, std::uint64_t hash);
  void drop(Slot& slot);

  std::uint64_t hash_mask_;
  std::size_t limit_, bytes_ = 0, plans_ = 0, hits_ = 0;
  std::uint64_t time_ = 0, not_kept_ = 0, numbers_ = 0;
  NodeId last_begin_ = 0;  // of the last plan
  Plan made_;
  Operands operands_;  // of the last plan
  std::unique_ptr<PlanVerifier> verifier_ = PlanVerifier::if_asked_for();
  std::vector<Slot> slots_;          // kWays for each of kSets hashes
  std::vector<std::uint64_t> seen_;  // hashes of structures
};

}  // namespace dynet
