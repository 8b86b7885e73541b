#include "dynet-like/train/exponentiated.h"

#include <algorithm>
#include <cmath>

#include "dynet-like/base/errors.h"
#include "dynet-like/param/storage.h"
#include "dynet-like/train/update_loops.h"
#include "kernels/cuda/update.h"

namespace dynet {
namespace {

void apply(const TrainerSlice& s) {
  float *h = s.state[0], *w = s.w;
  const float rate = s.c[0], momentum = s.c[1];
  if (!s.g && all_zero(h, s.n)) {
    scale_values(w, s.n, s.decay_factor);
    return;
  }
  float largest = -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < s.n; ++i) {
    h[i] = flush_subnormal(momentum * h[i] - (s.g ? rate * s.scale * s.g[i] : 0.0f));
    if (w[i] > 0) largest = std::max(largest, h[i]);
  }
  double sum = 0;
  for (std::size_t i = 0; i < s.n; ++i) {
    if (w[i] > 0) w[i] *= std::exp(h[i] - largest);
    sum += static_cast<double>(w[i]);
  }
  const auto factor = static_cast<float>(static_cast<double>(s.decay_factor) / sum);
  for (std::size_t i = 0; i < s.n; ++i) w[i] *= factor;
}

constexpr TrainerRule kExponentiated{.arrays = 1,
                                     .apply = apply,
                                     .device = DeviceRule::by(&cuda::kUpdateExponentiated),
                                     .whole = true};

}  // namespace

EGTrainer::EGTrainer(const ParameterCollection& pc, real lr, real mom, real ne)
    : Trainer(pc, lr, kExponentiated), momentum_(mom) {
  need_fraction("EGTrainer", "mom", mom);
  if (ne != 0) throw ArgumentError("EGTrainer: ne must be 0, got " + std::to_string(ne));
}

void EGTrainer::enableCyclicalLR(real learning_rate_min, real learning_rate_max, real step_size,
                                 real gamma) {
  set_schedule(
      LearningRateSchedule::cyclical(learning_rate_min, learning_rate_max, step_size, gamma));
}

void EGTrainer::begin_parameter(const ParameterStorageBase& p) const {
  const std::size_t n = p.row_size();
  for (std::size_t row = 0; row < p.rows; ++row) {
    const float* w = p.data + row * n;
    if (n == 0 || (*std::min_element(w, w + n) >= 0 && *std::max_element(w, w + n) > 0)) continue;
    throw ArgumentError("EGTrainer: parameter " + p.name + " " + to_string(p.full_dim()) +
                        " is no distribution: its values must not be negative, and not all zero");
  }
}

void EGTrainer::begin_update(std::uint64_t, TrainerConstants& c) { c = {learning_rate, momentum_}; }

std::vector<Trainer::Field> EGTrainer::fields() {
  return with(Trainer::fields(), {{"momentum", &momentum_}});
}

}  // namespace dynet
