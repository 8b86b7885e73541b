#pragma once

#include "dynet-like/train/trainer.h"

// Trainers with per-value learning rates.

namespace dynet {

/// Adagrad (Duchi, Hazan, Singer 2011):
///   v <- v + g^2
///   w <- w - learning_rate g / sqrt(v + epsilon)
class AdagradTrainer : public Trainer {
 public:
  /// Throws ArgumentError unless eps > 0.
  explicit AdagradTrainer(const ParameterCollection& pc, real lr = 0.1f, real eps = 1e-20f);
  const char* kind() const override { return "AdagradTrainer"; }

 protected:
  void begin_update(std::uint64_t step, TrainerConstants& c) override;
  std::vector<Field> fields() override;

 private:
  real epsilon_;
};

/// Adadelta (Zeiler 2012), which ignores `learning_rate`:
///   v <- rho v + (1 - rho) g^2
///   d = -g sqrt(u + epsilon) / sqrt(v + epsilon)
///   u <- rho u + (1 - rho) d^2
///   w <- w + d
class AdadeltaTrainer : public Trainer {
 public:
  /// Throws ArgumentError unless eps > 0 and 0 <= rho < 1.
  explicit AdadeltaTrainer(const ParameterCollection& pc, real eps = 1e-6f, real rho = 0.95f);
  const char* kind() const override { return "AdadeltaTrainer"; }

 protected:
  void begin_update(std::uint64_t step, TrainerConstants& c) override;
  std::vector<Field> fields() override;

 private:
  real epsilon_, rho_;
};

/// RMSProp (Tieleman and Hinton 2012):
///   v <- rho v + (1 - rho) g^2
///   w <- w - learning_rate g / sqrt(v + epsilon)
class RMSPropTrainer : public Trainer {
 public:
  /// Throws ArgumentError unless eps > 0 and 0 <= rho < 1.
  explicit RMSPropTrainer(const ParameterCollection& pc, real lr = 0.1f, real eps = 1e-20f,
                          real rho = 0.95f);
  const char* kind() const override { return "RMSPropTrainer"; }

 protected:
  void begin_update(std::uint64_t step, TrainerConstants& c) override;
  std::vector<Field> fields() override;

 private:
  real epsilon_, rho_;
};

}  // namespace dynet
