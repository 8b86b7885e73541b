#pragma once

#include <array>
#include <bit>
#include <cstddef>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/pod_vector.h"

namespace dynet {

/// Memory that comes and goes in pieces of few sizes: what was given back last is handed out first,
/// while it is still in the caches. All of it lies in an arena and lives until that is reset, and
/// the pool with it.
template <class T>
class Pool {
 public:
  /// Pieces of one size.
  class Pieces {
   public:
    T* take() {
      if (free_->empty()) pool_->fill(*free_, class_);
      T* const p = free_->back();
      free_->truncate(free_->size() - 1);
      return p;
    }
    void give_back(T* p) { free_->push_back(p); }

   private:
    friend class Pool;
    Pieces(Pool* pool, std::size_t c) : pool_(pool), free_(&pool->free_[c]), class_(c) {}
    Pool* pool_;
    PodVector<T*>* free_;
    std::size_t class_;
  };

  explicit Pool(Arena& arena) : arena_(arena) {}

  /// Of n elements or a few more.
  Pieces of(std::size_t n) { return {this, class_of(n)}; }
  void reset() {
    for (PodVector<T*>& free : free_) free.clear();
  }

 private:
  // Up to 16 elements in steps of 4, then four classes between powers of two.
  static constexpr std::size_t kClasses = 5 + 4 * 60;
  static std::size_t class_of(std::size_t n) {
    if (n <= 16) return (n + 3) / 4;
    const auto width = static_cast<std::size_t>(std::bit_width(n - 1));
    return 5 + (width - 5) * 4 + (((n - 1) >> (width - 3)) - 4);
  }
  static std::size_t size_of(std::size_t c) {
    if (c < 5) return c * 4;
    return ((c - 5) % 4 + 5) << ((c - 5) / 4 + 2);
  }

  void fill(PodVector<T*>& free, std::size_t c) {
    constexpr std::size_t kTogether = 2048;  // elements
    const std::size_t size = size_of(c);
    const std::size_t count = size >= kTogether ? 1 : kTogether / (size ? size : 1);
    T* const block = arena_.allocate_array<T>(size * count);
    for (std::size_t i = count; i-- > 0;) free.push_back(block + i * size);
  }

  Arena& arena_;
  std::array<PodVector<T*>, kClasses> free_;
};

}  // namespace dynet
