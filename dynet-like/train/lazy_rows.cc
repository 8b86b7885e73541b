#include "dynet-like/train/lazy_rows.h"

#include <algorithm>

namespace dynet {

MissedUpdates::MissedUpdates(ParameterStorage& table, const TrainerRule& rule,
                             std::vector<StateArray>* state)
    : table_(table),
      rule_(rule),
      done_(std::make_unique<std::atomic<std::uint32_t>[]>(table.rows)) {
  for (std::size_t k = 0; k < rule.arrays; ++k) state_[k] = (*state)[k].data();
}

MissedUpdates::~MissedUpdates() {
  settle_all();
  if (table_.lagging == this) table_.lagging = nullptr;
}

void MissedUpdates::attach() {
  if (table_.lagging == this) return;
  table_.settle_all();
  table_.lagging = this;
}

void MissedUpdates::settle(std::size_t row) {
  if (done_[row].load(std::memory_order_acquire) == count()) return;
  const std::lock_guard lock(mutex_);
  const std::uint32_t from = done_[row].load(std::memory_order_relaxed);
  if (from == count()) return;
  catch_up(row, from);
  done_[row].store(count(), std::memory_order_release);
}

void MissedUpdates::settle_all() {
  const std::lock_guard lock(mutex_);
  for (std::size_t row = 0; row < table_.rows; ++row) {
    const std::uint32_t from = done_[row].load(std::memory_order_relaxed);
    if (from == count()) continue;
    catch_up(row, from);
    done_[row].store(count(), std::memory_order_release);
  }
}

void MissedUpdates::reserve() {
  // So many that the list stays small beside the table, and the work of settling all pays.
  constexpr std::uint32_t kMost = 1 << 16;
  if (count() >= kMost) {
    settle_all();
    for (std::size_t row = 0; row < table_.rows; ++row) done_[row] = 0;
    missed_.clear();
  }
  if (missed_.size() == missed_.capacity())
    missed_.reserve(std::max<std::size_t>(64, 2 * missed_.size()));
}

void MissedUpdates::catch_up(std::size_t row, std::uint32_t from) {
  const std::size_t n = table_.row_size();
  TrainerSlice s{n, table_.values + row * n, nullptr, {}, nullptr, 1.0f, 1.0f};
  for (std::size_t k = 0; k < rule_.arrays; ++k) s.state[k] = state_[k] + row * n;
  for (std::size_t at = from; at < missed_.size();) {
    const MissedUpdate* next = &missed_[at];
    if (const std::size_t rest = rule_.rest ? rule_.rest(s, next, missed_.size() - at) : 0) {
      double keep = 1;
      for (std::size_t k = 0; k < rest; ++k) keep *= static_cast<double>(next[k].keep);
      scale_values(s.w, n, keep);
      at += rest;
      continue;
    }
    constexpr std::size_t kBetweenTrials = 16;
    for (std::size_t k = std::min(kBetweenTrials, missed_.size() - at); k > 0; --k, ++at) {
      s.c = missed_[at].constants.data();
      s.keep = missed_[at].keep;
      rule_.apply(s);
    }
  }
}

}  // namespace dynet
