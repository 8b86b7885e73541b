#pragma once

#include <cstddef>

#include "dynet-like/base/isa.h"
#include "dynet-like/base/required.h"
#include "dynet-like/param/update_rules.h"

namespace dynet {

namespace cuda {
struct UpdateRule;  // kernels/cuda/update.h
}

/// Contiguous values of one parameter in an update. The arrays do not overlap.
struct TrainerSlice {
  static constexpr std::size_t kMaxArrays = 4;

  std::size_t n;
  float* w;
  const float* g;  ///< null: zero; not null for a trainer without state
  float* state[kMaxArrays];
  const float* c;      ///< the TrainerConstants of this update
  float scale;         ///< factor of the gradient
  float decay_factor;  ///< 1 - weight decay, multiplied into the new value
};

/// Implementation of a trainer's rule on a device.
struct DeviceRule {
  const cuda::UpdateRule* kernel;  ///< null if there is none, or in a library without CUDA
  const char* why_not;             ///< reason for a missing kernel

  /// Runs this kernel.
  static constexpr DeviceRule by(const cuda::UpdateRule* kernel) { return {kernel, nullptr}; }
  /// Runs on the host; values, gradients and state are copied there and back.
  static constexpr DeviceRule never(const char* reason) { return {nullptr, reason}; }
};

/// Update rule of a trainer, as plain functions without state of their own.
struct TrainerRule {
  /// Number of state arrays per parameter, each of the parameter's size, at most
  /// TrainerSlice::kMaxArrays. State starts as zero; a rule must not change a value that never had
  /// a gradient.
  std::size_t arrays;
  PerIsa<void (*)(const TrainerSlice& s)> apply;
  Required<DeviceRule> device;
  /// True if the values of a parameter, or of a table row, depend on each other: slices are then
  /// whole parameters or rows.
  bool whole = false;
};

namespace train_detail {

// Inlined, since rows are so short that a call matters.
template <std::size_t kArrays, bool kGradient, class Rule>
[[gnu::always_inline]] inline void each_value(const TrainerSlice& s, Rule rule) {
  float* __restrict w = s.w;
  const float* __restrict g = s.g;
  float* __restrict p = s.state[0];
  float* __restrict q = s.state[1];
  float* __restrict r = s.state[2];
  const float scale = s.scale, decay_factor = s.decay_factor;
  // Loads precede all stores: a store between them halves the speed.
  for (std::size_t i = 0; i < s.n; ++i) {
    float a[kArrays + 1];
    if constexpr (kArrays > 0) a[0] = p[i];
    if constexpr (kArrays > 1) a[1] = q[i];
    if constexpr (kArrays > 2) a[2] = r[i];
    const float wi = rule(w[i], kGradient ? g[i] * scale : 0.0f, a) * decay_factor;
    if constexpr (kArrays > 0) p[i] = flush_subnormal(a[0]);
    if constexpr (kArrays > 1) q[i] = flush_subnormal(a[1]);
    if constexpr (kArrays > 2) r[i] = flush_subnormal(a[2]);
    w[i] = wi;
  }
}

}  // namespace train_detail

/// Applies a rule to a slice: `rule(w, g, state)` gets one value, its gradient and its kArrays (at
/// most 3) numbers of state, updates the state and returns the new value. Subnormal state is
/// flushed to zero.
template <std::size_t kArrays, class Rule>
[[gnu::always_inline]] inline void each_value(const TrainerSlice& s, Rule rule) {
  static_assert(kArrays <= 3);
  if (s.g)
    train_detail::each_value<kArrays, true>(s, rule);
  else
    train_detail::each_value<kArrays, false>(s, rule);
}

/// `each_value` with a rule of dynet-like/param/update_rules.h.
template <class Rule>
void apply_rule(const TrainerSlice& s) {
  each_value<Rule::kState>(s, Rule(s.c));
}

/// v <- s v, with subnormal results flushed to zero.
inline void scale_values(float* v, std::size_t n, double s) {
  if (s == 1) return;
  const auto f = static_cast<float>(s);
  for (std::size_t i = 0; i < n; ++i) v[i] = flush_subnormal(v[i] * f);
}

inline bool all_zero(const float* v, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    if (v[i] != 0) return false;
  return true;
}

}  // namespace dynet
