#pragma once

#include <cstdint>

#include "dynet-like/shape/tensor.h"

namespace dynet {

/// Learning rate as a function of the update number; saved with the trainer that uses it
/// (`Trainer::set_schedule`). Throws ArgumentError for rates that are negative or not finite.
class LearningRateSchedule {
 public:
  /// No schedule: the user sets `learning_rate`.
  LearningRateSchedule() = default;
  /// Grows linearly to `rate` over `warm_up` updates, then constant.
  static LearningRateSchedule warm_up(real rate, std::uint64_t warm_up);
  /// Linear warm-up, then inverse square root decay (Vaswani et al. 2017): rate sqrt(warm_up / t)
  /// in update t. `warm_up` must be at least 1.
  static LearningRateSchedule inverse_square_root(real rate, std::uint64_t warm_up);
  /// Linear warm-up, then half a cosine from `rate` to `lowest`, reached after `updates` updates in
  /// total and constant afterwards (Loshchilov and Hutter 2017). `updates` must exceed `warm_up`.
  static LearningRateSchedule cosine(real rate, std::uint64_t updates, real lowest = 0,
                                     std::uint64_t warm_up = 0);
  /// Triangular wave between `lowest` and `highest`, `step_size` updates per slope; the amplitude
  /// is multiplied by gamma^t after t updates (Smith 2017). As in DyNet, the first two updates have
  /// the lowest rate. `step_size` must be positive.
  static LearningRateSchedule cyclical(real lowest, real highest, real step_size, real gamma = 1);

  /// Rate of the next update after `done` updates; zero without a schedule.
  real rate(std::uint64_t done) const;
  explicit operator bool() const { return kind_ != kNone; }

 private:
  friend class Trainer;  // reads and writes the members when saving
  enum Kind : std::uint64_t { kNone, kWarmUp, kInverseSquareRoot, kCosine, kCyclical };
  static LearningRateSchedule rising(Kind kind, real rate, std::uint64_t warm_up);

  std::uint64_t kind_ = kNone;
  real high_ = 0, low_ = 0;
  std::uint64_t warm_up_ = 0, updates_ = 0;
  real step_size_ = 0, gamma_ = 1;
};

class Trainer;

/// Reduces the learning rate of a trainer when a loss, usually of held-out data, stops improving.
class ReduceOnPlateau {
 public:
  /// Constructor arguments and history, for Boost.Serialization.
  struct State {
    real factor = 0.5f;          ///< factor of the rate in each reduction
    std::uint64_t patience = 2;  ///< tolerated number of losses in a row without improvement
    real threshold = 1e-4f;      ///< improvement: loss < best - threshold |best|
    real lowest = 0;             ///< lower bound of the rate
    bool any = false;            ///< true after the first loss
    double best = 0;             ///< lowest loss
    std::uint64_t waited = 0;    ///< losses without improvement since `best` or the last reduction

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& factor& patience& threshold& lowest& any& best& waited;
    }
  };

  /// Throws ArgumentError unless 0 < factor < 1, threshold >= 0 and lowest >= 0, all finite.
  explicit ReduceOnPlateau(real factor = 0.5f, std::uint64_t patience = 2, real threshold = 1e-4f,
                           real lowest = 0);
  explicit ReduceOnPlateau(const State& s);
  /// Records a loss; true if it reduced the rate. A loss that is not finite is no improvement.
  /// Throws ArgumentError for a trainer with a schedule.
  bool observe(double loss, Trainer& trainer);
  const State& state() const { return state_; }

 private:
  State state_;
};

}  // namespace dynet
