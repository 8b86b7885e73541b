#include "dynet-like/base/arena.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/huge_pages.h"

namespace dynet {
namespace {

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

// Aligns blocks of 2 MiB and more to huge pages: fewer page faults and TLB misses.
void* allocate_block(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2)
    throw OutOfMemoryError("out of memory: " + std::to_string(bytes) + " bytes asked for");
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : Arena::kAlignment;
  const std::size_t size = round_up(std::max<std::size_t>(bytes, 1), alignment);
  void* p = std::aligned_alloc(alignment, size);
  if (!p) throw OutOfMemoryError("out of memory: " + std::to_string(bytes) + " bytes asked for");
  if (size >= kHugePage) prefer_huge_pages(p, size);
  return p;
}

// Makes the pages of a block without huge pages present. A vector load of a few lanes takes some
// 700 cycles where the lanes that it leaves out are on a page that was never used.
void touch_pages(void* block, std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  if (bytes >= kHugePage) return;
  for (std::size_t at = 0; at < bytes; at += kPage) static_cast<std::byte*>(block)[at] = {};
  static_cast<std::byte*>(block)[bytes - 1] = {};
}

}  // namespace

Arena::~Arena() { release(); }

void Arena::release() {
  for (const Chunk& c : chunks_) source_ ? source_->free(c.data) : std::free(c.data);
  chunks_.clear();
  ++generation_;
  reset();
}

std::size_t Arena::capacity() const {
  std::size_t sum = 0;
  for (const Chunk& c : chunks_) sum += c.size;
  return sum;
}

std::size_t Arena::used() const {
  std::size_t sum = used_;
  for (std::size_t c = 0; c < chunk_; ++c) sum += chunks_[c].size;
  return sum;
}

void* Arena::allocate_slow(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) return allocate_block(bytes);  // throws
  bytes = round_up(bytes, alignment_);
  const bool empty = chunk_ == 0 && used_ == 0;
  while (chunk_ < chunks_.size()) {
    if (chunks_[chunk_].size - used_ >= bytes) return allocate(bytes);
    ++chunk_;
    used_ = 0;
  }
  const std::size_t last = chunks_.empty() ? first_chunk_ / 2 : chunks_.back().size;
  const std::size_t size = std::max(2 * last, bytes);
  if (empty) release();  // earlier chunks are too small for the first block
  chunks_.reserve(chunks_.size() + 1);
  void* const block = source_ ? source_->allocate(size) : allocate_block(size);
  if (!source_) touch_pages(block, size);
  chunks_.push_back({static_cast<std::byte*>(block), size});
  return allocate(bytes);
}

void* allocate_zeroed(std::size_t bytes) {
  if (bytes < kHugePage - Arena::kAlignment)
    bytes += Arena::kAlignment;  // see touch_pages: for the vector at the end
  void* p = allocate_block(bytes);
  const bool is_large = bytes >= kHugePage;
  if (!is_large || !clear_when_used(p, round_up(bytes, kHugePage))) std::memset(p, 0, bytes);
  return p;
}

void free_aligned(void* p) noexcept { std::free(p); }

}  // namespace dynet
