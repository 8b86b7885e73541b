#pragma once

#include <cstddef>

#include "dynet-like/base/isa.h"
#include "dynet-like/base/required.h"
#include "dynet-like/param/update_rules.h"

namespace dynet {

namespace cuda {
struct UpdateRule;  // kernels/cuda/update.h
}

/// A stretch of one parameter in an update. No array overlaps another.
struct TrainerSlice {
  static constexpr std::size_t kMaxArrays = 4;

  std::size_t n;
  float* w;
  const float* g;  ///< null: zero; never null for a trainer without state
  float* state[kMaxArrays];
  const float* c;      ///< the TrainerConstants of this update
  float scale;         ///< the gradient is multiplied by this
  float decay_factor;  ///< 1 - weight decay, multiplied into the new value
};

/// How a trainer works on a device.
struct DeviceRule {
  const cuda::UpdateRule* kernel;  ///< null if there is none, or if the library has no CUDA in it
  const char* why_not;             ///< the reason, if there is none

  /// By this kernel.
  static constexpr DeviceRule by(const cuda::UpdateRule* kernel) { return {kernel, nullptr}; }
  /// On the host: values, gradients and state are brought there and back.
  static constexpr DeviceRule never(const char* reason) { return {nullptr, reason}; }
};

/// Changes that a trainer makes to memory: plain functions, so that they can run at any time.
struct TrainerRule {
  /// State arrays of each parameter, as large as it, at most TrainerSlice::kMaxArrays. State starts
  /// as zero, and a rule must not move a value that never had a gradient.
  std::size_t arrays;
  PerIsa<void (*)(const TrainerSlice& s)> apply;
  Required<DeviceRule> device;
  /// The values of a parameter, or of a row of a table, depend on each other: a slice is never
  /// less.
  bool whole = false;
};

namespace train_detail {

// Inline, for a row is so short that a call counts.
template <std::size_t kArrays, bool kGradient, class Rule>
[[gnu::always_inline]] inline void each_value(const TrainerSlice& s, Rule rule) {
  float* __restrict w = s.w;
  const float* __restrict g = s.g;
  float* __restrict p = s.state[0];
  float* __restrict q = s.state[1];
  float* __restrict r = s.state[2];
  const float scale = s.scale, decay_factor = s.decay_factor;
  // All loads come before the stores: a store in between costs half of the speed.
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

/// Runs a rule over a slice: `rule(w, g, state)` gets one value, its gradient and its kArrays (at
/// most 3) numbers of state, changes these and returns the new value. State too small for a normal
/// number becomes zero.
template <std::size_t kArrays, class Rule>
[[gnu::always_inline]] inline void each_value(const TrainerSlice& s, Rule rule) {
  static_assert(kArrays <= 3);
  if (s.g)
    train_detail::each_value<kArrays, true>(s, rule);
  else
    train_detail::each_value<kArrays, false>(s, rule);
}

/// The same with one of dynet-like/param/update_rules.h.
template <class Rule>
void apply_rule(const TrainerSlice& s) {
  each_value<Rule::kState>(s, Rule(s.c));
}

/// v times s.
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
