#pragma once

#include <cstddef>
#include <utility>

#include "dynet-like/base/arena.h"

namespace dynet {

/// Aligned floats that a trainer keeps for a parameter, zero at the start.
class StateArray {
 public:
  StateArray() = default;
  /// Throws OutOfMemoryError.
  explicit StateArray(std::size_t n)
      : data_(static_cast<float*>(allocate_zeroed(n * sizeof(float)))), size_(n) {}
  StateArray(StateArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  StateArray& operator=(StateArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~StateArray() { free_aligned(data_); }

  float* data() { return data_; }
  const float* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  float* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace dynet
