#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "dynet-like/param/storage.h"
#include "dynet-like/train/rule.h"
#include "dynet-like/train/state_array.h"

namespace dynet {

/// The updates that rows of a table have missed, and how a row makes up for them: in order, as if
/// it had taken each of them with the gradient zero.
///
/// `catch_up` only shows the values: how often it is called, and when, changes no bit of what a row
/// becomes. It may be called by several threads at once, not while an update runs.
class LazyRows : public LazyValues {
 public:
  /// The arrays of `state`, null for a rule without, the rule and the table must outlive this.
  LazyRows(ParameterStorageBase& table, const TrainerRule& rule, std::vector<StateArray>* state);
  /// Brings all rows up to date.
  ~LazyRows() override;

  void catch_up(std::size_t row) override;
  void catch_up_all() override;
  void finish_all() override;
  /// Brings values and state of a row up to date, before it takes a step or they are read.
  void finish(std::size_t row);

  /// Makes this the one that readers of the table ask; another's rows are finished.
  void attach();
  /// Memory for one more update. Throws OutOfMemoryError, changing nothing.
  void reserve();
  /// An update that all rows miss but those for which `took_last` is called. After `reserve`.
  void miss(const MissedUpdate& update) noexcept { missed_.push_back(update); }
  void took_last(std::size_t row) { rows_[row].set(count()); }
  std::uint32_t count() const { return static_cast<std::uint32_t>(missed_.size()); }

 private:
  /// How many of the updates a row has taken or made up for. A row that rests, see
  /// TrainerRule::skip, makes up for all at once when it is next used; until then its values are
  /// shown as they will be, and `done` stays.
  struct Row {
    std::atomic<std::uint32_t> shown = 0;  ///< in its values
    std::uint32_t done = 0;                ///< in values and state
    std::uint32_t used = 0;                ///< when it was last finished

    void set(std::uint32_t updates) {
      done = used = updates;
      shown.store(updates, std::memory_order_release);
    }
  };
  /// The values of a row that rests and decays: before, and as they were shown.
  struct Decayed {
    std::vector<float> before, after;
  };

  void bring(std::size_t row, bool finish);
  void undo_show(std::size_t row);
  std::size_t skip(const TrainerSlice& s, std::size_t at, std::size_t end) const;
  bool show_skipped(std::size_t row, std::size_t at);
  void finish_state(std::size_t row, std::size_t end);
  TrainerSlice slice(std::size_t row) const;

  ParameterStorageBase& table_;
  const TrainerRule& rule_;
  float* state_[TrainerSlice::kMaxArrays] = {};
  std::vector<MissedUpdate> missed_;
  std::unique_ptr<Row[]> rows_;
  std::unordered_map<std::size_t, Decayed> decayed_;
  std::vector<float> scratch_;  // values and state of one row
  std::mutex mutex_;
};

}  // namespace dynet
