#pragma once

#include "dynet-like/train/trainer.h"

namespace dynet {

/// Adam (Kingma and Ba 2015). With t updates since the start or restart,
///   m <- beta_1 m + (1 - beta_1) g
///   v <- beta_2 v + (1 - beta_2) g^2
///   w <- w - learning_rate sqrt(1 - beta_2^t) / (1 - beta_1^t) m / (sqrt(v) + epsilon)
///
/// The count t is one for all: a parameter that joins later, or a table row used rarely, starts
/// with the t of the others. Moments too small for a normal number become zero.
class AdamTrainer : public Trainer {
 public:
  /// Throws ArgumentError unless 0 <= beta_1, beta_2 < 1 and eps > 0.
  explicit AdamTrainer(const ParameterCollection& pc, real lr = 0.001f, real beta_1 = 0.9f,
                       real beta_2 = 0.999f, real eps = 1e-8f);
  const char* kind() const override { return "AdamTrainer"; }

 protected:
  void begin_update(std::uint64_t step) override;
  void apply(const Slice& s) override;
  std::vector<Field> fields() override;

 private:
  real beta_1_, beta_2_, epsilon_;
  float step_size_ = 0;
};

}  // namespace dynet
