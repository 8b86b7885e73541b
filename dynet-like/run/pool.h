#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/pod_vector.h"

namespace dynet {

/// Memory in pieces of few sizes; the piece freed last is allocated first, while it is still in the
/// caches. All memory is in an arena, which must be reset together with the pool.
template <class T>
class Pool {
  struct Class {  // of sizes
    PodVector<T*> free;
    T* next = nullptr;  // in a block of unused pieces
    std::size_t left = 0, size = 0;
  };

 public:
  /// Pieces of one size.
  class Pieces {
   public:
    T* take() {
      if (!class_->free.empty()) {
        T* const p = class_->free.back();
        class_->free.truncate(class_->free.size() - 1);
        return p;
      }
      if (class_->left == 0) pool_->refill(*class_);
      T* const p = class_->next;
      class_->next += class_->size;
      --class_->left;
      return p;
    }
    void give_back(T* p) { class_->free.push_back(p); }

   private:
    friend class Pool;
    Pieces(Pool* pool, Class& c) : pool_(pool), class_(&c) {}
    Pool* pool_;
    Class* class_;
  };

  explicit Pool(Arena& arena) : arena_(arena) {}

  /// Pieces of at least n elements.
  Pieces of(std::size_t n) { return {this, classes_[class_of(n)]}; }
  void reset() {
    for (Class* const c : used_) {
      c->free.clear();
      c->left = 0;
    }
    used_.clear();
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

  void refill(Class& c) {
    constexpr std::size_t kTogether = 2048;  // elements
    if (c.size == 0) c.size = size_of(static_cast<std::size_t>(&c - classes_.data()));
    const std::size_t count =
        c.size >= kTogether ? 1 : kTogether / std::max<std::size_t>(c.size, 1);
    c.next = arena_.allocate_array<T>(c.size * count);
    c.left = count;
    used_.push_back(&c);
  }

  Arena& arena_;
  std::array<Class, kClasses> classes_;
  PodVector<Class*> used_;  // classes with pieces; may contain duplicates
};

}  // namespace dynet
