#pragma once

#include <cstddef>

#include "dynet-like/param/update_rules.h"
#include "dynet-like/train/rule.h"

namespace dynet {
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

/// Whether all values are zero.
inline bool all_zero(const float* v, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    if (v[i] != 0) return false;
  return true;
}

}  // namespace dynet
