#pragma once

#include "dynet-like/train/trainer.h"

namespace dynet {

/// Exponentiated gradient (Kivinen and Warmuth 1997) with momentum, for probability distributions:
/// each parameter, and each row of a table, is one distribution.
///   h <- momentum h - learning_rate g
///   w_i <- w_i e^{h_i} / sum_j w_j e^{h_j}
///
/// When a parameter gets its first gradient, its values must not be negative and at least one must
/// be positive; otherwise the update throws ArgumentError and changes nothing.
class EGTrainer : public Trainer {
 public:
  /// `ne` must be zero, as by default in DyNet. Throws ArgumentError unless 0 <= mom < 1.
  explicit EGTrainer(const ParameterCollection& pc, real lr = 0.1f, real mom = 0.9f, real ne = 0);
  /// Sets a cyclical learning rate, see LearningRateSchedule::cyclical.
  void enableCyclicalLR(real learning_rate_min = 0.01f, real learning_rate_max = 0.1f,
                        real step_size = 2000, real gamma = 0);
  const char* kind() const override { return "EGTrainer"; }

 protected:
  void begin_update(std::uint64_t step, TrainerConstants& c) override;
  void begin_parameter(const ParameterStorageBase& p) const override;
  std::vector<Field> fields() override;

 private:
  real momentum_;
};

}  // namespace dynet
