#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <utility>

namespace dynet {

/// Lets a caller abort a long computation between two of its steps, for a key press or a deadline.
class Interrupt {
 public:
  /// `check` is called periodically by a computing thread; an exception that it throws aborts the
  /// computation.
  explicit Interrupt(std::function<void()> check,
                     std::chrono::milliseconds every = std::chrono::milliseconds(50))
      : check_(std::move(check)), every_(every) {}

  /// Calls `check` at most once per `every`. Between short steps some calls skip reading the clock.
  void look() {
    const unsigned left = left_.load(std::memory_order_relaxed);
    if (left == 0) return look_at_clock();
    left_.store(left - 1, std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned kMostSkipped = 31;  // calls in a row without the clock

  void look_at_clock() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const auto passed = now - std::chrono::steady_clock::duration(
                                  last_.exchange(now.count(), std::memory_order_relaxed));
    const unsigned skipped = skipped_.load(std::memory_order_relaxed);
    const bool often = passed * (kMostSkipped + 1) < every_;
    const unsigned skip = often ? std::min(2 * skipped + 1, kMostSkipped) : 0;
    skipped_.store(skip, std::memory_order_relaxed);
    left_.store(skip, std::memory_order_relaxed);
    auto next = next_.load(std::memory_order_relaxed);
    if (now < std::chrono::steady_clock::duration(next)) return;
    // Only the thread that wins the exchange calls `check_`.
    if (next_.compare_exchange_strong(next, (now + every_).count(), std::memory_order_relaxed))
      check_();
  }

  std::function<void()> check_;
  std::chrono::milliseconds every_;
  std::atomic<std::chrono::steady_clock::rep> next_ = 0, last_ = 0;
  std::atomic<unsigned> left_ = 0, skipped_ = 0;
};

}  // namespace dynet
