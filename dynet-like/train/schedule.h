#pragma once

#include <cstdint>

#include "dynet-like/shape/tensor.h"

namespace dynet {

/// The learning rate of each update as a function of its number: plain numbers, saved with the
/// trainer that follows it (`Trainer::set_schedule`). Rates must be finite and not negative;
/// ArgumentError.
class LearningRateSchedule {
 public:
  /// No schedule: `learning_rate` is what the user makes it.
  LearningRateSchedule() = default;
  /// Grows linearly over `warm_up` updates, is `rate` in the last of them and stays there.
  static LearningRateSchedule warm_up(real rate, std::uint64_t warm_up);
  /// The same, and falls with the root of the number of updates afterwards (Vaswani et al. 2017):
  /// rate sqrt(warm_up / t) in the t-th. `warm_up` at least 1.
  static LearningRateSchedule inverse_square_root(real rate, std::uint64_t warm_up);
  /// After a linear warm-up, half a cosine from `rate` to `lowest`, which is reached after
  /// `updates` updates in all and stays (Loshchilov and Hutter 2017). `updates` above `warm_up`.
  static LearningRateSchedule cosine(real rate, std::uint64_t updates, real lowest = 0,
                                     std::uint64_t warm_up = 0);
  /// Up and down again linearly, `step_size` updates each way, between `lowest` and `highest`, the
  /// height of the peaks times gamma^t after t updates (Smith 2017). The first two updates have the
  /// lowest rate, as in DyNet. `step_size` above 0.
  static LearningRateSchedule cyclical(real lowest, real highest, real step_size, real gamma = 1);

  /// The rate of the next update after `done` of them. Zero without a schedule.
  real rate(std::uint64_t done) const;
  explicit operator bool() const { return kind_ != kNone; }

 private:
  friend class Trainer;  // saves it
  enum Kind : std::uint64_t { kNone, kWarmUp, kInverseSquareRoot, kCosine, kCyclical };
  static LearningRateSchedule rising(Kind kind, real rate, std::uint64_t warm_up);

  std::uint64_t kind_ = kNone;
  real high_ = 0, low_ = 0;
  std::uint64_t warm_up_ = 0, updates_ = 0;
  real step_size_ = 0, gamma_ = 1;
};

class Trainer;

/// Lowers the learning rate of a trainer when a number that should fall, a loss of held-out data,
/// stays where it is.
class ReduceOnPlateau {
 public:
  /// Arguments of the constructor and losses seen, to be saved with Boost.Serialization.
  struct State {
    real factor = 0.5f;          ///< the rate is multiplied by this
    std::uint64_t patience = 2;  ///< after more than so many losses in a row that are not better
    real threshold = 1e-4f;      ///< better: below best - threshold |best|
    real lowest = 0;             ///< the rate is not made smaller than this
    bool any = false;            ///< whether there was a loss
    double best = 0;             ///< the least of them
    std::uint64_t waited = 0;    ///< losses since then that were not better

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& factor& patience& threshold& lowest& any& best& waited;
    }
  };

  /// Throws ArgumentError unless 0 < factor < 1, threshold >= 0 and lowest >= 0, all finite.
  explicit ReduceOnPlateau(real factor = 0.5f, std::uint64_t patience = 2, real threshold = 1e-4f,
                           real lowest = 0);
  explicit ReduceOnPlateau(const State& s);
  /// Looks at a new loss; true if the rate was lowered. A loss that is not finite is not better.
  /// Throws ArgumentError for a trainer with a schedule, whose rate is not to be changed.
  bool observe(double loss, Trainer& trainer);
  const State& state() const { return state_; }

 private:
  State state_;
};

}  // namespace dynet
