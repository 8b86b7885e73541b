#include "dynet-like/train/lazy_rows.h"

#include <algorithm>
#include <cstring>

namespace dynet {

LazyRows::LazyRows(ParameterStorageBase& table, const TrainerRule& rule,
                   std::vector<StateArray>* state)
    : table_(table), rule_(rule), rows_(std::make_unique<Row[]>(table.rows)) {
  for (std::size_t k = 0; k < rule.arrays; ++k) state_[k] = (*state)[k].data();
}

LazyRows::~LazyRows() {
  finish_all();
  if (table_.lazy == this) table_.lazy = nullptr;
}

void LazyRows::attach() {
  if (table_.lazy == this) return;
  table_.finish_rows();
  table_.lazy = this;
}

void LazyRows::catch_up(std::size_t row) {
  if (rows_[row].shown.load(std::memory_order_acquire) == count()) return;
  const std::lock_guard lock(mutex_);
  if (rows_[row].shown.load(std::memory_order_relaxed) != count()) bring(row, false);
}

void LazyRows::catch_up_all() {
  const std::lock_guard lock(mutex_);
  for (std::size_t row = 0; row < table_.rows; ++row)
    if (rows_[row].shown.load(std::memory_order_relaxed) != count()) bring(row, false);
}

void LazyRows::finish(std::size_t row) {
  const std::lock_guard lock(mutex_);
  if (rows_[row].done != count()) bring(row, true);
  rows_[row].set(count());
}

// The list is empty then, so that a trainer that is loaded goes on as the one that was saved.
void LazyRows::finish_all() {
  for (std::size_t row = 0; row < table_.rows; ++row) finish(row);
  for (std::size_t row = 0; row < table_.rows; ++row) rows_[row].set(0);
  missed_.clear();
}

void LazyRows::reserve() {
  // So many that the list stays small beside the table, and the work of settling all pays.
  constexpr std::uint32_t kMost = 1 << 16;
  if (count() >= kMost) finish_all();
  if (missed_.size() == missed_.capacity())
    missed_.reserve(std::max<std::size_t>(64, 2 * missed_.size()));
}

TrainerSlice LazyRows::slice(std::size_t row) const {
  const std::size_t n = table_.row_size();
  TrainerSlice s{n, table_.data + row * n, nullptr, {}, nullptr, 1.0f, 1.0f};
  for (std::size_t k = 0; k < rule_.arrays; ++k) s.state[k] = state_[k] + row * n;
  return s;
}

// Takes updates at once, if the row rests; the number of them.
std::size_t LazyRows::skip(const TrainerSlice& s, std::size_t at, std::size_t end) const {
  const MissedUpdate* next = &missed_[at];
  const std::size_t taken = rule_.skip ? rule_.skip(s, next, end - at) : 0;
  double decay_factor = 1;
  for (std::size_t k = 0; k < taken; ++k) decay_factor *= static_cast<double>(next[k].decay_factor);
  scale_values(s.w, s.n, decay_factor);
  return taken;
}

// Only the steps between two uses of a row decide what it becomes. Where looks fall in between must
// not: so single steps, which may be taken at any time, alternate with trials whether the row rests
// at fixed places, and what a row that rests makes up for at once waits for its next use.
void LazyRows::bring(std::size_t row, bool finish) {
  constexpr std::size_t kBetweenTrials = 16;
  Row& r = rows_[row];
  const std::size_t shown = r.shown.load(std::memory_order_relaxed);
  if (finish && r.done < shown && shown == missed_.size()) {
    finish_state(row, shown);
    return;
  }
  undo_show(row);
  TrainerSlice s = slice(row);
  for (std::size_t at = r.done; at < missed_.size();) {
    if (at == r.used || at % kBetweenTrials == 0) {
      if (!finish && show_skipped(row, at)) {
        r.done = static_cast<std::uint32_t>(at);
        r.shown.store(count(), std::memory_order_release);
        return;
      }
      if (const std::size_t taken = skip(s, at, missed_.size())) {
        at += taken;
        continue;
      }
    }
    const std::size_t end = std::min(missed_.size(), at + kBetweenTrials - at % kBetweenTrials);
    for (; at < end; ++at) {
      s.c = missed_[at].constants.data();
      s.decay_factor = missed_[at].decay_factor;
      rule_.apply(s);
    }
  }
  r.done = count();
  r.shown.store(count(), std::memory_order_release);
}

// Shows the values of a row that rests from here to the end. False, changing nothing, if it does
// not.
bool LazyRows::show_skipped(std::size_t row, std::size_t at) {
  if (!rule_.skip) return false;
  TrainerSlice s = slice(row);
  float* const values = s.w;
  scratch_.assign(values, values + s.n);
  for (std::size_t k = 0; k < rule_.arrays; ++k)
    scratch_.insert(scratch_.end(), s.state[k], s.state[k] + s.n);
  s.w = scratch_.data();
  for (std::size_t k = 0; k < rule_.arrays; ++k) s.state[k] = scratch_.data() + (k + 1) * s.n;
  if (skip(s, at, missed_.size()) != missed_.size() - at) return false;
  if (std::memcmp(s.w, values, s.n * sizeof(float)) == 0) return true;
  Decayed& d = decayed_[row];
  d.before.assign(values, values + s.n);
  d.after.assign(s.w, s.w + s.n);
  std::copy_n(s.w, s.n, values);
  return true;
}

// The state of a row that rests, whose values are shown up to there already.
void LazyRows::finish_state(std::size_t row, std::size_t end) {
  TrainerSlice s = slice(row);
  scratch_.assign(s.w, s.w + s.n);
  s.w = scratch_.data();
  skip(s, rows_[row].done, end);
  decayed_.erase(row);
  rows_[row].done = rows_[row].used = static_cast<std::uint32_t>(end);
}

// The values of a row that rests as they were, unless somebody has changed them since they were
// shown: then that is what goes on.
void LazyRows::undo_show(std::size_t row) {
  const auto d = decayed_.find(row);
  if (d == decayed_.end()) return;
  float* const values = slice(row).w;
  const std::size_t bytes = table_.row_size() * sizeof(float);
  if (std::memcmp(values, d->second.after.data(), bytes) == 0) {
    std::memcpy(values, d->second.before.data(), bytes);
    decayed_.erase(d);
  } else {
    finish_state(row, rows_[row].shown.load(std::memory_order_relaxed));
  }
}

}  // namespace dynet
