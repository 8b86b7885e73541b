#pragma once

#include "dynet-like/train/trainer.h"

namespace dynet {

/// Adam (Kingma and Ba 2015). With t updates since the start or restart,
///   m <- beta_1 m + (1 - beta_1) g
///   v <- beta_2 v + (1 - beta_2) g^2
///   w <- w - learning_rate sqrt(1 - beta_2^t) / (1 - beta_1^t) m / (sqrt(v) + epsilon)
///
/// All parameters share t: a parameter that is added later, or a table row that is used rarely,
/// starts with the current t. Subnormal moments are flushed to zero.
class AdamTrainer : public Trainer {
 public:
  /// Throws ArgumentError unless 0 <= beta_1, beta_2 < 1 and eps > 0, all finite.
  explicit AdamTrainer(const ParameterCollection& pc, real lr = 0.001f, real beta_1 = 0.9f,
                       real beta_2 = 0.999f, real eps = 1e-8f);
  const char* kind() const override { return "AdamTrainer"; }

 protected:
  AdamTrainer(const ParameterCollection& pc, real lr, real beta_1, real beta_2, real eps,
              const TrainerRule& rule, const char* name);
  void begin_update(std::uint64_t step, TrainerConstants& c) override;
  std::vector<Field> fields() override;

 private:
  real beta_1_, beta_2_, epsilon_;
};

/// Adam with the maximum of all v so far instead of v (Reddi, Kale, Kumar 2018):
///   v_max <- max(v_max, v)
///   w <- w - learning_rate sqrt(1 - beta_2^t) / (1 - beta_1^t) m / (sqrt(v_max) + epsilon)
class AmsgradTrainer : public AdamTrainer {
 public:
  /// Throws ArgumentError unless 0 <= beta_1, beta_2 < 1 and eps > 0, all finite.
  explicit AmsgradTrainer(const ParameterCollection& pc, real lr = 0.001f, real beta_1 = 0.9f,
                          real beta_2 = 0.999f, real eps = 1e-8f);
  const char* kind() const override { return "AmsgradTrainer"; }
};

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019):
///   w <- (1 - learning_rate weight_decay) w - the step of Adam
///
/// The decay is part of the rule: table rows without a step do not decay, nor do parameters that
/// never had a gradient. The weight decay of the collection is applied in addition, by a constant
/// factor that is independent of the learning rate.
class AdamWTrainer : public AdamTrainer {
 public:
  /// Throws ArgumentError unless 0 <= beta_1, beta_2 < 1, eps > 0 and 0 <= weight_decay, all
  /// finite.
  explicit AdamWTrainer(const ParameterCollection& pc, real lr = 0.001f, real beta_1 = 0.9f,
                        real beta_2 = 0.999f, real eps = 1e-8f, real weight_decay = 0.01f);
  const char* kind() const override { return "AdamWTrainer"; }

 protected:
  void begin_update(std::uint64_t step, TrainerConstants& c) override;
  std::vector<Field> fields() override;

 private:
  real weight_decay_;
};

}  // namespace dynet
