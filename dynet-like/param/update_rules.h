#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "dynet-like/base/device_code.h"

// Update rules of trainers for one value, on the CPU and on devices. A rule is constructed from the
// constants of an update; called with a value, its gradient and its kState numbers of state, it
// changes the state and returns the new value.

namespace dynet {

/// Flushes subnormal numbers to zero. Decaying state would remain subnormal, and some CPUs are a
/// hundred times slower on subnormal numbers.
DYNET_DEVICE inline float flush_subnormal(float x) {
  return std::abs(x) < std::numeric_limits<float>::min() ? 0.0f : x;
}

namespace rules {

/// w <- w - rate g
struct SGD {
  static constexpr std::size_t kState = 0;
  float rate;

  DYNET_DEVICE explicit SGD(const float* c) : rate(c[0]) {}
  DYNET_DEVICE float operator()(float w, float g, float*) const { return w - rate * g; }
};

/// v <- momentum v - rate g; w <- w + v
struct Momentum {
  static constexpr std::size_t kState = 1;
  float rate, momentum;

  DYNET_DEVICE explicit Momentum(const float* c) : rate(c[0]), momentum(c[1]) {}
  DYNET_DEVICE float operator()(float w, float g, float* v) const {
    v[0] = momentum * v[0] - rate * g;
    return w + v[0];
  }
};

/// v <- v + g^2; w <- w - rate g / sqrt(v + eps)
struct Adagrad {
  static constexpr std::size_t kState = 1;
  float rate, eps;

  DYNET_DEVICE explicit Adagrad(const float* c) : rate(c[0]), eps(c[1]) {}
  DYNET_DEVICE float operator()(float w, float g, float* v) const {
    v[0] += g * g;
    return w - rate * g / std::sqrt(v[0] + eps);
  }
};

/// See AdadeltaTrainer.
struct Adadelta {
  static constexpr std::size_t kState = 2;
  float eps, rho, a;

  DYNET_DEVICE explicit Adadelta(const float* c) : eps(c[1]), rho(c[2]), a(1.0f - rho) {}
  DYNET_DEVICE float operator()(float w, float g, float* v) const {
    v[0] = rho * v[0] + a * (g * g);
    const float d = -g * std::sqrt(v[1] + eps) / std::sqrt(v[0] + eps);
    v[1] = rho * v[1] + a * (d * d);
    return w + d;
  }
};

/// v <- rho v + (1 - rho) g^2; w <- w - rate g / sqrt(v + eps)
struct RMSProp {
  static constexpr std::size_t kState = 1;
  float rate, eps, rho, a;

  DYNET_DEVICE explicit RMSProp(const float* c) : rate(c[0]), eps(c[1]), rho(c[2]), a(1.0f - rho) {}
  DYNET_DEVICE float operator()(float w, float g, float* v) const {
    v[0] = rho * v[0] + a * (g * g);
    return w - rate * g / std::sqrt(v[0] + eps);
  }
};

/// See AdamTrainer, AmsgradTrainer (kMaximum) and AdamWTrainer (decay_factor).
template <bool kMaximum>
struct Adam {
  static constexpr std::size_t kState = kMaximum ? 3 : 2;
  enum : unsigned { kBeta1, kBeta2, kStep, kEpsilon, kDecayFactor };  ///< indices of the constants
  float b1, b2, step, eps, decay_factor, a1, a2;

  DYNET_DEVICE explicit Adam(const float* c)
      : b1(c[kBeta1]),
        b2(c[kBeta2]),
        step(c[kStep]),
        eps(c[kEpsilon]),
        decay_factor(c[kDecayFactor]),
        a1(1.0f - b1),
        a2(1.0f - b2) {}
  DYNET_DEVICE float operator()(float w, float g, float* a) const {
    a[0] = b1 * a[0] + a1 * g;
    a[1] = b2 * a[1] + a2 * (g * g);
    float v = a[1];
    if constexpr (kMaximum) v = a[2] = std::max(a[2], v);
    return decay_factor * w - step * a[0] / (std::sqrt(v) + eps);
  }
};

}  // namespace rules
}  // namespace dynet
