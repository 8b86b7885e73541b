#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "dynet-like/param/storage.h"
#include "dynet-like/train/rule.h"
#include "dynet-like/train/state_array.h"

namespace dynet {

/// The updates that rows of a table have missed, and how a row makes up for them: in order, as if
/// it had taken each of them with the gradient zero.
///
/// `settle` may be called by several threads at once, not while an update runs.
class MissedUpdates : public LaggingRows {
 public:
  /// The arrays of `state`, null for a rule without, the rule and the table must outlive this.
  MissedUpdates(ParameterStorage& table, const TrainerRule& rule, std::vector<StateArray>* state);
  /// Brings all rows up to date.
  ~MissedUpdates() override;

  void settle(std::size_t row) override;
  void settle_all() override;

  /// Makes this the one that readers of the table ask; another's rows are settled.
  void attach();
  /// Memory for one more update. Throws OutOfMemoryError, changing nothing.
  void reserve();
  /// An update that all rows miss but those for which `took_last` is called. After `reserve`.
  void miss(const MissedUpdate& update) noexcept { missed_.push_back(update); }
  void took_last(std::size_t row) { done_[row].store(count(), std::memory_order_relaxed); }
  std::uint32_t count() const { return static_cast<std::uint32_t>(missed_.size()); }

 private:
  void catch_up(std::size_t row, std::uint32_t from);

  ParameterStorage& table_;
  const TrainerRule& rule_;
  float* state_[TrainerSlice::kMaxArrays] = {};
  std::vector<MissedUpdate> missed_;
  std::unique_ptr<std::atomic<std::uint32_t>[]> done_;  // of each row: updates taken or made up for
  std::mutex mutex_;
};

}  // namespace dynet
