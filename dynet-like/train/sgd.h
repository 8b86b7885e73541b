#pragma once

#include "dynet-like/train/trainer.h"

namespace dynet {

/// Stochastic gradient descent: w <- w - learning_rate g
class SimpleSGDTrainer : public Trainer {
 public:
  explicit SimpleSGDTrainer(const ParameterCollection& pc, real lr = 0.1f);
  const char* kind() const override { return "SimpleSGDTrainer"; }
};

/// Stochastic gradient descent with a cyclical learning rate (Smith 2017), see
/// LearningRateSchedule::cyclical.
class CyclicalSGDTrainer : public SimpleSGDTrainer {
 public:
  /// `edecay` is ignored; it exists for older DyNet programs. Throws ArgumentError for invalid
  /// arguments of the schedule.
  explicit CyclicalSGDTrainer(const ParameterCollection& pc, real learning_rate_min = 0.01f,
                              real learning_rate_max = 0.1f, real step_size = 2000,
                              real gamma = 1.0f, real edecay = 0.0f);
  const char* kind() const override { return "CyclicalSGDTrainer"; }
};

/// Gradient descent with momentum (Polyak 1964):
///   v <- momentum v - learning_rate g
///   w <- w + v
class MomentumSGDTrainer : public Trainer {
 public:
  /// Throws ArgumentError unless 0 <= mom < 1.
  explicit MomentumSGDTrainer(const ParameterCollection& pc, real lr = 0.01f, real mom = 0.9f);
  const char* kind() const override { return "MomentumSGDTrainer"; }

 protected:
  void begin_update(std::uint64_t step, TrainerConstants& c) override;
  std::vector<Field> fields() override;

 private:
  real momentum_;
};

}  // namespace dynet
