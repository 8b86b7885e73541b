#pragma once

#include <cstdint>

#include "dynet-like/plan/plan_maker.h"

namespace dynet {

/// Makes the steps of a plan in batches: call `find_ranks`, then `finish`.
class Batcher {
 public:
  Batcher(const GraphStore& graph, PlanScratch& scratch, Plan& plan)
      : graph_(graph), plan_(plan), s_(scratch), begin_(plan.begin), n_(plan.end - begin_) {}

  /// Finds the batch keys, their components, and a rank for every node, above the ranks of its
  /// operands.
  void find_ranks();
  /// Sorts the nodes by rank, then by creation.
  void sort();
  void emit();
  /// Sorts and emits the nodes and lays out their memory.
  void finish();

 private:
  using Member = PlanScratch::Member;
  using Component = PlanScratch::Component;

  const BatchKey& batch_key(std::uint32_t key) const { return s_.keys.all[key]; }
  std::uint32_t key_at(std::uint32_t k) const { return s_.keys.of[plan_.order[k] - begin_]; }
  std::uint32_t rank_at(std::uint32_t k) const { return s_.rank[plan_.order[k] - begin_]; }
  void find_components();
  void close(std::uint32_t key);
  void find_splits();
  std::span<const Layout> find_layouts();
  void keep_other_operands(std::uint32_t key);
  void emit_earlier_parts(const Component& component, std::uint32_t first, std::uint32_t end);
  void emit_ranks(std::uint32_t first, std::uint32_t end);
  void emit_rank(std::uint32_t first, std::uint32_t end);
  void emit(std::uint32_t key, std::uint32_t first, std::uint32_t count) {
    if (s_.members[key].special) [[unlikely]]
      return emit_special(key, first, count);
    *plan_.steps.append(1) = {first, count};
  }
  void emit_special(std::uint32_t key, std::uint32_t first, std::uint32_t count);
  void emit_by_matrix(std::uint32_t first, std::uint32_t count);

  const GraphStore& graph_;
  Plan& plan_;
  PlanScratch& s_;
  const NodeId begin_;
  const std::uint32_t n_;
};

}  // namespace dynet
