#include "dynet-like/distributed/lane_gradients.h"

#include <algorithm>
#include <cstring>

namespace dynet {
namespace {

void add(float* __restrict to, const float* __restrict from, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to[i] += from[i];
}

void store_or_add(const GradientSlot& to, const float* from, std::size_t n) {
  if (to.written)
    add(to.g, from, n);
  else
    std::memcpy(to.g, from, n * sizeof(float));
}

// With the gradients of both as a whole, or of both by rows.
void add_table(RowGradients& to, RowGradients& from) {
  to.unify();
  from.unify();
  if (from.whole_written()) {
    store_or_add(to.use_whole(), from.whole(), from.row_count() * from.row_size());
    to.unify();
    return;
  }
  const std::size_t n = from.row_size();
  for (std::size_t k = 0; k < from.rows().size(); ++k) {
    const std::uint32_t row = from.rows()[k];
    if (to.whole_written())
      add(to.whole() + row * n, from.row_gradient(k), n);
    else
      store_or_add(to.use_row(row), from.row_gradient(k), n);
  }
}

}  // namespace

void add_gradients(GradientBuffer& to, GradientBuffer& from) {
  for (std::size_t p = 0; p < from.dense_count(); ++p)
    if (const std::size_t n = from.dense_size(p)) store_or_add(to.use(p, n), from.find(p), n);
  for (std::size_t t = 0; t < from.table_count(); ++t)
    if (RowGradients* const r = from.find_rows(t))
      add_table(to.rows(t, r->row_count(), r->row_size()), *r);
}

LaneGradients::LaneGradients(GradientBuffers& buffers, const LaneTree& tree, Interval own)
    : buffers_(buffers), tree_(tree), own_(own), cover_(tree.cover(own)), done_(own.size()) {}

GradientBuffer* LaneGradients::take(unsigned lane) {
  GradientBuffer& buffer = buffers_.numbered(lane);
  if (!buffer.empty()) return &buffer;
  buffers_.drop(buffer);
  return nullptr;
}

// Who completes the second child of a node adds, without the lock: nobody else knows of either.
void LaneGradients::done(unsigned lane) {
  GradientBuffer* sum = take(lane);
  LaneNode n{0, lane};
  std::unique_lock lock(mutex_);
  done_[lane - own_.begin] = true;
  while (std::find(cover_.begin(), cover_.end(), n) == cover_.end()) {
    if (tree_.has(n.sibling())) {
      const auto other = waiting_.find(n.sibling());
      if (other == waiting_.end()) break;
      GradientBuffer* const more = other->second;
      waiting_.erase(other);
      if (sum && more) {
        lock.unlock();
        add_gradients(*sum, *more);
        buffers_.drop(*more);
        lock.lock();
      } else if (more) {
        sum = more;
      }
    }
    n = n.parent();
  }
  waiting_[n] = sum;
}

std::vector<std::pair<LaneNode, GradientBuffer*>> LaneGradients::finish() {
  for (std::size_t lane = own_.begin; lane < own_.end; ++lane)
    if (!done_[lane - own_.begin]) done(static_cast<unsigned>(lane));
  std::vector<std::pair<LaneNode, GradientBuffer*>> sums;
  for (const LaneNode n : cover_) sums.emplace_back(n, waiting_.at(n));
  waiting_.clear();
  std::fill(done_.begin(), done_.end(), false);
  return sums;
}

void LaneGradients::drop() {
  waiting_.clear();
  std::fill(done_.begin(), done_.end(), false);
  buffers_.clear();
}

}  // namespace dynet
