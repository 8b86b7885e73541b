#pragma once

#include <cmath>
#include <cstdint>

namespace dynet {

/// Which mean of the values over the updates a trainer keeps.
enum class MovingAverage : std::uint64_t { None, Cumulative, Exponential };

/// When a moving average takes in values, and with which weights: the average a of a value w is
/// a + part (w - a), every so many updates.
class Averaging {
 public:
  Averaging() = default;
  Averaging(MovingAverage kind, float beta, std::uint64_t every)
      : kind_(static_cast<std::uint64_t>(kind)), beta_(beta), every_(every) {}

  bool enabled() const { return kind_ != 0; }
  MovingAverage kind() const { return static_cast<MovingAverage>(kind_); }
  /// How many values it has taken in.
  std::uint64_t count() const { return count_; }

  /// Whether the next update is one of those that count.
  bool is_due() const { return enabled() && waited_ + 1 >= every_; }
  /// The part of the next value.
  float next_part() const {
    return exponential() ? 1.0f - beta_ : static_cast<float>(1.0 / static_cast<double>(count_ + 1));
  }
  /// After an update.
  void advance() {
    if (!enabled()) return;
    const bool due = is_due();
    waited_ = due ? 0 : waited_ + 1;
    count_ += due;
  }
  /// Average of a value that has always been 1.
  double weight_of_constant() const {
    return exponential() ? 1 - std::pow(static_cast<double>(beta_), static_cast<double>(count_))
                         : 1.0;
  }
  /// Restarts the average, without values.
  void restart() { waited_ = count_ = 0; }

 private:
  friend class Trainer;  // which saves it, number by number

  bool exponential() const { return kind() == MovingAverage::Exponential; }

  std::uint64_t kind_ = 0;
  float beta_ = 0;
  std::uint64_t every_ = 1, waited_ = 0, count_ = 0;
};

}  // namespace dynet
