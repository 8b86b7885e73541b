#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "dynet-like/distributed/communicator.h"
#include "dynet-like/distributed/lanes.h"
#include "dynet-like/distributed/message_plan.h"
#include "dynet-like/distributed/update_head.h"
#include "dynet-like/param/gradients.h"
#include "dynet-like/param/storage.h"

namespace dynet {

/// Sums gradients over processes in the CPU's memory, see MessagePlan. All processes must have the
/// same parameters.
class GradientExchange {
 public:
  /// Gradient sums of nodes; null: no gradients.
  using Sums = std::vector<std::pair<LaneNode, GradientBuffer*>>;

  GradientExchange(Communicator& world, const LaneTree& tree) : world_(world), tree_(tree) {}

  /// Parameters of `own` with gradients. A table has sorted rows or is whole, not both.
  static Presence presence(const ParameterBank& bank, const Sums& own);
  /// Sums all lanes into `total`, which must be empty. `present` is the union of the presence of
  /// all processes; `own` are the sums of this process's nodes.
  void sum(const ParameterBank& bank, const Presence& present, const Sums& own,
           GradientBuffer& total);

 private:
  using Values = std::vector<float>;
  class Messages;
  struct Received {
    Transfer transfer;
    Values values;
  };

  /// f(p, present, offset) for each present gradient; offset is the index of its first number.
  template <class Dense, class Table>
  static std::size_t lay_out(const ParameterBank& bank, const Presence& present, Dense dense,
                             Table table);
  static void fill(const ParameterBank& bank, const Presence& present, GradientBuffer& from,
                   Values& to);
  static void store(const ParameterBank& bank, const Presence& present, const Values& from,
                    GradientBuffer& to);
  void plan(std::size_t numbers);
  void reduce_scatter();
  void allgather(Values& all);
  void add(const Addition& a, const std::vector<Received>& received);
  void rename(unsigned level);
  Values take(std::size_t n);
  void give_back(Values v) { unused_.push_back(std::move(v)); }
  LaneNode held_as(LaneNode n) const;

  Communicator& world_;
  const LaneTree& tree_;
  std::map<LaneNode, Values> values_;  // of nodes with two children, or of single lanes
  std::vector<Values> unused_;
  MessagePlan plan_;
  std::size_t planned_numbers_ = 0;
  bool planned_ = false;
};

}  // namespace dynet
