#include "dynet-like/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "dynet-like/base/errors.h"
#include "dynet-like/train/trainer.h"

namespace dynet {
namespace {

void need(bool holds, const char* rule) {
  if (!holds) throw ArgumentError(std::string("LearningRateSchedule: ") + rule);
}

void need_rate(real rate) {
  need(rate >= 0 && std::isfinite(rate), "a rate must be finite and not negative");
}

}  // namespace

LearningRateSchedule LearningRateSchedule::warm_up(real rate, std::uint64_t warm_up) {
  need_rate(rate);
  LearningRateSchedule s;
  s.kind_ = kWarmUp;
  s.high_ = rate;
  s.warm_up_ = warm_up;
  return s;
}

LearningRateSchedule LearningRateSchedule::inverse_square_root(real rate, std::uint64_t warm_up) {
  need(warm_up > 0, "inverse_square_root needs a warm-up of at least one update");
  LearningRateSchedule s = LearningRateSchedule::warm_up(rate, warm_up);
  s.kind_ = kInverseSquareRoot;
  return s;
}

LearningRateSchedule LearningRateSchedule::cosine(real rate, std::uint64_t updates, real lowest,
                                                  std::uint64_t warm_up) {
  need_rate(lowest);
  need(updates > warm_up, "cosine needs more updates than its warm-up takes");
  LearningRateSchedule s = LearningRateSchedule::warm_up(rate, warm_up);
  s.kind_ = kCosine;
  s.low_ = lowest;
  s.updates_ = updates;
  return s;
}

LearningRateSchedule LearningRateSchedule::cyclical(real lowest, real highest, real step_size,
                                                    real gamma) {
  need_rate(lowest);
  need_rate(highest);
  need(step_size > 0 && std::isfinite(step_size), "cyclical needs a step size above 0");
  need(gamma >= 0 && gamma <= 1, "cyclical needs gamma in [0, 1]");
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
    const double size = step_size_, cycle = std::floor(1 + t / (2 * size));
    const double x = std::abs(t / size - 2 * cycle + 1);
    rate = low + (high - low) * std::max(0.0, 1 - x) * std::pow(static_cast<double>(gamma_), t);
  }
  return static_cast<real>(rate);
}

ReduceOnPlateau::ReduceOnPlateau(real factor, std::uint64_t patience, real threshold, real lowest) {
  if (!(factor > 0 && factor < 1 && threshold >= 0 && lowest >= 0))
    throw ArgumentError(
        "ReduceOnPlateau: needs 0 < factor < 1, threshold >= 0 and lowest >= 0, got " +
        std::to_string(factor) + ", " + std::to_string(threshold) + " and " +
        std::to_string(lowest));
  state_.factor = factor;
  state_.patience = patience;
  state_.threshold = threshold;
  state_.lowest = lowest;
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
