#include "dynet-like/distributed/lane_gradients.h"

#include <algorithm>
#include <utility>

namespace dynet {

LaneGradients::LaneGradients(GradientBuffers& buffers, GradientAdder& adder, const LaneTree& tree,
                             Interval own)
    : buffers_(buffers),
      adder_(adder),
      tree_(tree),
      own_(own),
      cover_(tree.cover(own)),
      done_(own.size()) {}

GradientBuffer& LaneGradients::on_host(GradientBuffer& buffer) {
  if (!buffer.memory()) return buffer;
  GradientBuffer& host = buffers_.make(nullptr);
  adder_.copy(host, buffer);
  buffers_.drop(buffer);
  return host;
}

// Adds `more` to `to`, and drops it.
GradientBuffer* LaneGradients::sum(GradientBuffer& to, GradientBuffer& more) {
  const bool together = to.memory() == more.memory();
  GradientBuffer& a = together ? to : on_host(to);
  GradientBuffer& b = together ? more : on_host(more);
  adder_.add(a, b);
  buffers_.drop(b);
  return &a;
}

void LaneGradients::note_places(const std::vector<GradientBuffer*>& parts) {
  const std::lock_guard lock(mutex_);
  for (const GradientBuffer* const buffer : parts) {
    const auto& memory = buffer->memory();
    if (!memory)
      places_.cpu = true;
    else if (!places_.device || memory->number() < places_.device->number())
      places_.device = memory;
  }
}

GradientBuffer* LaneGradients::take(unsigned lane) {
  const std::vector<GradientBuffer*> parts = buffers_.of_number(lane);
  note_places(parts);
  GradientBuffer* all = nullptr;
  for (GradientBuffer* const buffer : parts) all = all ? sum(on_host(*all), *buffer) : buffer;
  return all;
}

// The thread that completes the second child adds both without the lock: it alone refers to them.
void LaneGradients::done(unsigned lane) {
  GradientBuffer* all = take(lane);
  LaneNode n{0, lane};
  std::unique_lock lock(mutex_);
  done_[lane - own_.begin] = true;
  while (std::find(cover_.begin(), cover_.end(), n) == cover_.end()) {
    if (tree_.has(n.sibling())) {
      const auto other = waiting_.find(n.sibling());
      if (other == waiting_.end()) break;
      GradientBuffer* const more = other->second;
      waiting_.erase(other);
      if (all && more) {
        lock.unlock();
        all = sum(*all, *more);
        lock.lock();
      } else if (more) {
        all = more;
      }
    }
    n = n.parent();
  }
  waiting_[n] = all;
}

std::vector<std::pair<LaneNode, GradientBuffer*>> LaneGradients::finish() {
  for (std::size_t lane = own_.begin; lane < own_.end; ++lane)
    if (!done_[lane - own_.begin]) done(static_cast<unsigned>(lane));
  std::vector<std::pair<LaneNode, GradientBuffer*>> sums;
  for (const LaneNode n : cover_) sums.emplace_back(n, waiting_.at(n));
  waiting_.clear();
  std::fill(done_.begin(), done_.end(), false);
  finished_places_ = std::exchange(places_, {});
  return sums;
}

void LaneGradients::drop() {
  waiting_.clear();
  places_ = {};
  std::fill(done_.begin(), done_.end(), false);
  buffers_.clear();
}

}  // namespace dynet
