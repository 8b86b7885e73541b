#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dynet-like/plan/plan_maker.h"
#include "dynet-like/plan/verify.h"

namespace dynet {

/// Cache of plans for repeated structures. The key is everything that planning reads.
///
/// Neither the position of the nodes in a graph nor the identity of earlier nodes that they use
/// counts: the steps of a decoder share a plan, and so do windows of a large graph. A hash selects
/// candidates, which are compared in full. A structure is inserted when it is seen the second time,
/// up to a limit of bytes.
class PlanCache {
 public:
  /// Bounds of cached plans: nodes, and operands. Plans of fewer than kFewest nodes are cached only
  /// after a plan of kMany nodes, as the loss is, so that the whole graph is cached.
  static constexpr NodeId kFewest = 3, kMany = 16, kMost = 65536, kMostOperands = 8 * kMost;

  /// `bytes` limits the memory. Only the bits of `hash_mask` of a hash are compared.
  explicit PlanCache(std::size_t bytes = std::size_t{8} << 20,
                     std::uint64_t hash_mask = ~std::uint64_t{0});
  ~PlanCache();

  /// The cached plan of the nodes [begin, end), or a new plan by `maker`; valid until the next
  /// call.
  const Plan& plan(const GraphStore& graph, NodeId begin, NodeId end, PlanMaker& maker);
  /// Drops all entries and frees the memory.
  void release();

  std::size_t bytes() const { return bytes_; }
  std::size_t plans() const { return plans_; }
  std::size_t hits() const { return hits_; }

 private:
  struct Kept;
  struct Slot {
    std::uint64_t hash = 0;
    std::uint64_t used = 0;  // time of the last use
    std::unique_ptr<Kept> kept;
  };

  /// Operands of the nodes of a plan, independent of its position in a graph: the operand lists of
  /// all nodes in order. An operand in the plan is its distance from begin, an operand before it is
  /// kOutside plus its number in the order of first use.
  class Operands {
   public:
    static constexpr NodeId kOutside = NodeId{1} << 31;  // above all nodes of a graph

    void list(const GraphStore& graph, NodeId begin, NodeId end);
    std::span<const NodeId> all() const { return all_; }
    /// Operands before the plan, by their number.
    std::span<const NodeId> outside() const { return {outside_.data(), outside_.size()}; }
    void release() { *this = {}; }

   private:
    std::span<const NodeId> all_;
    PodVector<NodeId> list_, outside_;
    PodVector<std::uint32_t> number_;  // by node: its index in `outside_`, if it is there
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
