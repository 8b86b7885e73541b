#include "dynet-like/train/adam.h"

#include <cmath>
#include <limits>

#include "dynet-like/base/errors.h"

namespace dynet {
namespace {

// Moments decay into subnormal numbers and stay there, where some processors are a hundred times
// slower.
inline float flush(float x) { return std::abs(x) < std::numeric_limits<float>::min() ? 0.0f : x; }

struct Constants {
  float b1, b2, step, eps, keep;
};

// All loads come before the stores: a store in between costs half of the speed.
void with_gradient(std::size_t n, float* __restrict w, const float* __restrict g,
                   float* __restrict m, float* __restrict v, float scale, Constants c) {
  const float a1 = 1.0f - c.b1, a2 = 1.0f - c.b2;
  for (std::size_t i = 0; i < n; ++i) {
    const float gi = g[i] * scale, wi = w[i];
    const float mi = flush(c.b1 * m[i] + a1 * gi);
    const float vi = flush(c.b2 * v[i] + a2 * (gi * gi));
    m[i] = mi;
    v[i] = vi;
    w[i] = (wi - c.step * mi / (std::sqrt(vi) + c.eps)) * c.keep;
  }
}

void without_gradient(std::size_t n, float* __restrict w, float* __restrict m, float* __restrict v,
                      Constants c) {
  for (std::size_t i = 0; i < n; ++i) {
    const float wi = w[i];
    const float mi = flush(c.b1 * m[i]);
    const float vi = flush(c.b2 * v[i]);
    m[i] = mi;
    v[i] = vi;
    w[i] = (wi - c.step * mi / (std::sqrt(vi) + c.eps)) * c.keep;
  }
}

}  // namespace

AdamTrainer::AdamTrainer(const ParameterCollection& pc, real lr, real beta_1, real beta_2, real eps)
    : Trainer(pc, lr, 2), beta_1_(beta_1), beta_2_(beta_2), epsilon_(eps) {
  if (!(beta_1 >= 0 && beta_1 < 1 && beta_2 >= 0 && beta_2 < 1 && eps > 0))
    throw ArgumentError("AdamTrainer: needs 0 <= beta_1, beta_2 < 1 and eps > 0, got " +
                        std::to_string(beta_1) + ", " + std::to_string(beta_2) + " and " +
                        std::to_string(eps));
}

void AdamTrainer::begin_update(std::uint64_t step) {
  const double t = static_cast<double>(step);
  const double b1 = beta_1_, b2 = beta_2_;
  step_size_ = static_cast<float>(static_cast<double>(learning_rate) *
                                  std::sqrt(1.0 - std::pow(b2, t)) / (1.0 - std::pow(b1, t)));
}

void AdamTrainer::apply(const Slice& s) {
  const Constants c{beta_1_, beta_2_, step_size_, epsilon_, s.keep};
  if (s.g)
    with_gradient(s.n, s.w, s.g, s.state[0], s.state[1], s.scale, c);
  else
    without_gradient(s.n, s.w, s.state[0], s.state[1], c);
}

std::vector<Trainer::Field> AdamTrainer::fields() {
  std::vector<Field> all = Trainer::fields();
  all.insert(all.end(), {{"beta_1", &beta_1_}, {"beta_2", &beta_2_}, {"epsilon", &epsilon_}});
  return all;
}

}  // namespace dynet
