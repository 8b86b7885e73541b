#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <utility>

namespace dynet {

/// A way for somebody outside to end a long computation between two of its steps: a user who has
/// pressed a key, a deadline.
class Interrupt {
 public:
  /// `check` is called now and then, by whichever thread computes; what it throws ends the
  /// computation.
  explicit Interrupt(std::function<void()> check,
                     std::chrono::milliseconds every = std::chrono::milliseconds(50))
      : check_(std::move(check)), every_(every) {}

  /// Calls `check` unless the last call is less than `every` ago. Where steps are short not every
  /// call looks at the clock.
  void look() {
    const unsigned left = left_.load(std::memory_order_relaxed);
    if (left == 0) return look_at_clock();
    left_.store(left - 1, std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned kMostSkipped = 31;  // calls that do not look at the clock, in a row

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
    // One of several threads calls `check_`.
    if (next_.compare_exchange_strong(next, (now + every_).count(), std::memory_order_relaxed))
      check_();
  }

  std::function<void()> check_;
  std::chrono::milliseconds every_;
  std::atomic<std::chrono::steady_clock::rep> next_ = 0, last_ = 0;
  std::atomic<unsigned> left_ = 0, skipped_ = 0;
};

}  // namespace dynet
