#include "dynet-like/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "dynet-like/base/errors.h"
#include "dynet-like/train/trainer.h"

namespace dynet {
namespace {

template <class Value>
void need(bool holds, const char* kind, const char* name, const char* rule, Value value) {
  if (!holds)
    throw ArgumentError(std::string("LearningRateSchedule::") + kind + ": " + name + " must be " +
                        rule + ", got " + std::to_string(value));
}

void need_rate(const char* kind, const char* name, real rate) {
  need(rate >= 0 && std::isfinite(rate), kind, name, "finite and not negative", rate);
}

}  // namespace

LearningRateSchedule LearningRateSchedule::rising(Kind kind, real rate, std::uint64_t warm_up) {
  LearningRateSchedule s;
  s.kind_ = kind;
  s.high_ = rate;
  s.warm_up_ = warm_up;
  return s;
}

LearningRateSchedule LearningRateSchedule::warm_up(real rate, std::uint64_t warm_up) {
  need_rate("warm_up", "rate", rate);
  return rising(kWarmUp, rate, warm_up);
}

LearningRateSchedule LearningRateSchedule::inverse_square_root(real rate, std::uint64_t warm_up) {
  need_rate("inverse_square_root", "rate", rate);
  need(warm_up > 0, "inverse_square_root", "warm_up", "at least 1", warm_up);
  return rising(kInverseSquareRoot, rate, warm_up);
}

LearningRateSchedule LearningRateSchedule::cosine(real rate, std::uint64_t updates, real lowest,
                                                  std::uint64_t warm_up) {
  need_rate("cosine", "rate", rate);
  need_rate("cosine", "lowest", lowest);
  need(updates > warm_up, "cosine", "updates", "more than its warm-up takes", updates);
  LearningRateSchedule s = rising(kCosine, rate, warm_up);
  s.low_ = lowest;
  s.updates_ = updates;
  return s;
}

LearningRateSchedule LearningRateSchedule::cyclical(real lowest, real highest, real step_size,
                                                    real gamma) {
  need_rate("cyclical", "lowest", lowest);
  need_rate("cyclical", "highest", highest);
  need(step_size > 0 && std::isfinite(step_size), "cyclical", "step_size", "finite and above 0",
       step_size);
  need(gamma >= 0 && gamma <= 1, "cyclical", "gamma", "in [0, 1]", gamma);
  LearningRateSchedule s;
  s.kind_ = kCyclical;
  s.low_ = lowest;
  s.high_ = highest;
  s.step_size_ = step_size;
  s.gamma_ = gamma;
  return s;
}

real LearningRateSchedule::rate(std::uint64_t done) const {
  const double high = high_, low = low_, t = static_cast<double>(done);
  const auto warm = static_cast<double>(warm_up_), all = static_cast<double>(updates_);
  const double rise = warm_up_ ? std::min(1.0, (t + 1) / warm) : 1.0;
  double rate = high * rise;
  if (kind_ == kInverseSquareRoot && t + 1 > warm) {
    rate = high * std::sqrt(warm / (t + 1));
  } else if (kind_ == kCosine && done >= warm_up_) {
    const double part = std::min(1.0, (t - warm) / (all - warm));
    rate = low + (high - low) * (1 + std::cos(3.141592653589793 * part)) / 2;
  } else if (kind_ == kCyclical) {
    const double steps = std::max(0.0, t - 1);  // two updates of lowest rate, as in DyNet
    const double size = step_size_, cycle = std::floor(1 + steps / (2 * size));
    const double x = std::abs(steps / size - 2 * cycle + 1);
    rate = low + (high - low) * std::max(0.0, 1 - x) * std::pow(static_cast<double>(gamma_), steps);
  }
  return static_cast<real>(rate);
}

ReduceOnPlateau::ReduceOnPlateau(real factor, std::uint64_t patience, real threshold, real lowest)
    : ReduceOnPlateau(State{factor, patience, threshold, lowest}) {}

ReduceOnPlateau::ReduceOnPlateau(const State& s) : state_(s) {
  if (!(s.factor > 0 && s.factor < 1 && s.threshold >= 0 && std::isfinite(s.threshold) &&
        s.lowest >= 0 && std::isfinite(s.lowest) && std::isfinite(s.best)))
    throw ArgumentError(
        "ReduceOnPlateau: needs 0 < factor < 1, threshold >= 0 and lowest >= 0, all finite, got " +
        std::to_string(s.factor) + ", " + std::to_string(s.threshold) + " and " +
        std::to_string(s.lowest));
}

bool ReduceOnPlateau::observe(double loss, Trainer& trainer) {
  if (trainer.schedule())
    throw ArgumentError("ReduceOnPlateau: the learning rate of this trainer follows a schedule");
  State& s = state_;
  if (std::isfinite(loss) &&
      (!s.any || loss < s.best - static_cast<double>(s.threshold) * std::abs(s.best))) {
    s.any = true;
    s.best = loss;
    s.waited = 0;
    return false;
  }
  if (++s.waited <= s.patience) return false;
  s.waited = 0;
  const real lower = std::max(s.lowest, trainer.learning_rate * s.factor);
  if (!(lower < trainer.learning_rate)) return false;
  trainer.learning_rate = lower;
  return true;
}

}  // namespace dynet
