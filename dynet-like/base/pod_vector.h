#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "dynet-like/base/huge_pages.h"

namespace dynet {

/// Growing array of plain data. Unlike std::vector it does not initialize the elements of `append`
/// and `resize_uninitialized`, and `clear` and `truncate` take constant time.
template <class T>
class PodVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  PodVector() = default;
  // NOLINTNEXTLINE: explicit, against accidental copies
  explicit PodVector(const PodVector& other) {
    if (!other.empty())
      std::memcpy(static_cast<void*>(append(other.size_)), other.data_, other.size_ * sizeof(T));
  }
  PodVector& operator=(const PodVector&) = delete;
  PodVector(PodVector&& other) noexcept { swap(other); }
  PodVector& operator=(PodVector&& other) noexcept {
    swap(other);
    return *this;
  }
  ~PodVector() { std::free(data_); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t capacity() const { return capacity_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

  void push_back(const T& value) {
    T copy = value;  // `value` may be an element of this array
    *append(1) = copy;
  }

  /// Appends `n` uninitialized elements; the pointer is valid until the next growth.
  T* append(std::size_t n) {
    if (size_ + n > capacity_) grow(size_ + n);
    T* first = data_ + size_;
    size_ += n;
    return first;
  }

  /// Appends the `n` elements that the caller wrote into reserved memory.
  void take_reserved(std::size_t n) { size_ += n; }

  void resize_uninitialized(std::size_t n) {
    if (n > capacity_) grow(n);
    size_ = n;
  }
  void resize(std::size_t n, const T& value) {
    const std::size_t old = size_;
    resize_uninitialized(n);
    for (std::size_t i = old; i < n; ++i) data_[i] = value;
  }
  void reserve(std::size_t n) {
    if (n > capacity_) grow(n);
  }
  void truncate(std::size_t n) { size_ = n; }
  void clear() { size_ = 0; }
  void swap(PodVector& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  // Not inlined, so that the common path of `append` is a comparison and an addition.
  [[gnu::noinline]] void grow(std::size_t need) {
    std::size_t want = capacity_ < 16 ? 32 : capacity_ * 2;
    if (want < need) want = need;
    void* moved = std::realloc(static_cast<void*>(data_), want * sizeof(T));
    if (!moved) throw std::bad_alloc();
    data_ = static_cast<T*>(moved);
    capacity_ = want;
    if (want * sizeof(T) >= 4 * kHugePage) prefer_huge_pages(moved, want * sizeof(T));
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace dynet
