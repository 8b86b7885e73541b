#pragma once

#include "dynet-like/train/trainer.h"

namespace dynet {

/// Stochastic gradient descent: w <- w - learning_rate g
class SimpleSGDTrainer : public Trainer {
 public:
  explicit SimpleSGDTrainer(const ParameterCollection& pc, real lr = 0.1f) : Trainer(pc, lr, 0) {}
  const char* kind() const override { return "SimpleSGDTrainer"; }

 protected:
  void apply(const Slice& s) override;
};

}  // namespace dynet
