#include "kernels/cuda/memory_pool.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "dynet-like/base/errors.h"

namespace dynet::cuda {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kPage = std::size_t{1} << 21;  // granularity of the driver
constexpr std::size_t kSlab = std::size_t{1} << 25;

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

std::string asked_for(std::size_t bytes, int device) {
  return "out of memory on device " + std::to_string(device) + ": " + std::to_string(bytes) +
         " bytes asked for";
}

}  // namespace

void* MemoryPool::allocate(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2)
    throw OutOfMemoryError(asked_for(bytes, device_));
  bytes = round_up(std::max<std::size_t>(bytes, 1), kAlignment);
  const std::lock_guard lock(mutex_);
  auto fit = free_.lower_bound({bytes, nullptr});
  if (fit == free_.end()) {
    add_slab(bytes);
    fit = free_.lower_bound({bytes, nullptr});
  }
  std::byte* const p = fit->second;
  Block& block = blocks_.find(p)->second;
  if (block.freed == time_) {
    plain_.separate(p);
    ++time_;
  }
  if (const std::size_t rest = block.size - bytes; rest > 0) {
    const auto cut = blocks_.emplace(p + bytes, Block{rest, false, 0, {}}).first;
    try {
      free_.emplace(rest, p + bytes);
    } catch (...) {
      blocks_.erase(cut);
      throw;
    }
    block.size = bytes;
  }
  block.place = free_.extract(fit);
  used_ += bytes;
  return p;
}

// Allocates a slab larger than requested, for later allocations, if memory suffices.
void MemoryPool::add_slab(std::size_t bytes) {
  std::size_t size = std::max(round_up(bytes, kPage), kSlab);
  void* slab = nullptr;
  try {
    slab = take(size, bytes);
  } catch (const OutOfMemoryError&) {
    give_back_slabs();
    size = round_up(bytes, kPage);
    slab = take(size, bytes);
  }
  auto* const p = static_cast<std::byte*>(slab);
  try {
    const auto block = blocks_.emplace(p, Block{size, true, 0, {}}).first;
    try {
      free_.emplace(size, p);
    } catch (...) {
      blocks_.erase(block);
      throw;
    }
  } catch (...) {
    plain_.give_back(slab);
    throw;
  }
  held_ += size;
}

void* MemoryPool::take(std::size_t slab, std::size_t asked) {
  if (held_ > limit_ || slab > limit_ - held_)
    throw OutOfMemoryError(asked_for(asked, device_) + ", " + std::to_string(used_) +
                           " of at most " + std::to_string(limit_) + " in use");
  return plain_.take(slab);
}

std::size_t MemoryPool::set_limit(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  return std::exchange(limit_, bytes);
}

void MemoryPool::free(void* p) noexcept {
  const std::lock_guard lock(mutex_);
  auto at = blocks_.find(static_cast<std::byte*>(p));
  if (at == blocks_.end() || is_free(at->second)) return;
  used_ -= at->second.size;
  at->second.freed = time_;
  at->second.place.value() = {at->second.size, at->first};
  free_.insert(std::move(at->second.place));
  if (const auto next = std::next(at);
      next != blocks_.end() && !next->second.slab && is_free(next->second))
    at = merge(at, next);
  if (!at->second.slab && is_free(std::prev(at)->second)) merge(std::prev(at), at);
}

MemoryPool::Blocks::iterator MemoryPool::merge(Blocks::iterator left,
                                               Blocks::iterator right) noexcept {
  Block &l = left->second, &r = right->second;
  auto node = free_.extract({l.size, left->first});
  free_.erase({r.size, right->first});
  l.size += r.size;
  l.freed = std::max(l.freed, r.freed);
  node.value().first = l.size;
  free_.insert(std::move(node));
  blocks_.erase(right);
  return left;
}

void MemoryPool::trim() noexcept {
  const std::lock_guard lock(mutex_);
  give_back_slabs();
}

void MemoryPool::give_back_slabs() noexcept {
  for (auto at = blocks_.begin(); at != blocks_.end();) {
    const auto next = std::next(at);
    if (at->second.slab && is_free(at->second) && (next == blocks_.end() || next->second.slab)) {
      held_ -= at->second.size;
      plain_.give_back(at->first);
      free_.erase({at->second.size, at->first});
      blocks_.erase(at);
    }
    at = next;
  }
}

}  // namespace dynet::cuda
