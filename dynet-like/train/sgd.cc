#include "dynet-like/train/sgd.h"

namespace dynet {

void SimpleSGDTrainer::apply(const Slice& s) {
  float* __restrict w = s.w;
  const float* __restrict g = s.g;
  const float step = learning_rate * s.scale, keep = s.keep;
  for (std::size_t i = 0; i < s.n; ++i) w[i] = (w[i] - step * g[i]) * keep;
}

}  // namespace dynet
