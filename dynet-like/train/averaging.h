#pragma once

#include <cstdint>

namespace dynet {

/// Kind of moving average of the values that a trainer maintains.
enum class MovingAverage : std::uint64_t { None, Cumulative, Exponential };

/// Schedule and weights of a moving average: every `every` updates, the average a of a value w
/// becomes a + part (w - a).
class Averaging {
 public:
  Averaging() = default;
  Averaging(MovingAverage kind, float beta, std::uint64_t every)
      : kind_(static_cast<std::uint64_t>(kind)), beta_(beta), every_(every) {}

  bool enabled() const { return kind_ != 0; }
  MovingAverage kind() const { return static_cast<MovingAverage>(kind_); }
  /// Number of values averaged so far.
  std::uint64_t count() const { return count_; }

  /// True if the next update is averaged.
  bool is_due() const { return enabled() && waited_ + 1 >= every_; }
  /// Weight of the next value.
  float next_part() const {
    return exponential() ? 1.0f - beta_ : static_cast<float>(1.0 / static_cast<double>(count_ + 1));
  }
  /// Counts an update.
  void advance() {
    if (!enabled()) return;
    const bool due = is_due();
    waited_ = due ? 0 : waited_ + 1;
    count_ += due;
  }
  /// Average of a constant value of 1.
  double weight_of_constant() const;
  /// Restarts with an empty average.
  void restart() { waited_ = count_ = 0; }

 private:
  friend class Trainer;  // reads and writes the members when saving

  bool exponential() const { return kind() == MovingAverage::Exponential; }

  std::uint64_t kind_ = 0;
  float beta_ = 0;
  std::uint64_t every_ = 1, waited_ = 0, count_ = 0;
};

}  // namespace dynet
