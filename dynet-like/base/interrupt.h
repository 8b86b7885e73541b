#pragma once

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

  /// Calls `check` unless the last call is less than `every` ago.
  void look() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    auto next = next_.load(std::memory_order_relaxed);
    if (now < std::chrono::steady_clock::duration(next)) return;
    // Of several threads one.
    if (next_.compare_exchange_strong(next, (now + every_).count(), std::memory_order_relaxed))
      check_();
  }

 private:
  std::function<void()> check_;
  std::chrono::milliseconds every_;
  std::atomic<std::chrono::steady_clock::rep> next_ = 0;
};

}  // namespace dynet
