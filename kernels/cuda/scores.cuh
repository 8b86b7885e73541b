#pragma once

// Exponentials of scores, of which minus infinity is one; as kernels/cpu/exponential.h.

#include "kernels/cuda/along.cuh"

namespace dynet::cuda {

/// Number subtracted from scores whose largest is `m`; a line without any score keeps its minus
/// infinities.
inline __device__ float shift(float m) { return m == -INFINITY ? 0.0f : m; }

/// The same where the logarithm of the sum is wanted, which is infinity if a score is.
inline __device__ float finite_shift(float m) { return m == INFINITY ? 0.0f : shift(m); }

/// e^x, zero where it is close to the smallest number.
inline __device__ float exponential(float x) {
  constexpr float kTiny = 8 * 1.17549435e-38f;
  const float e = expf(x);
  return e < kTiny ? 0.0f : e;
}

/// Shift of `n` scores, `step` apart, and the sum of the exponentials of the shifted
/// scores.
struct MaxSum {
  float shift, sum;
};
/// Reads each score once: what was added up is scaled when there is a larger score.
template <float (*kShift)(float) = shift>
__device__ MaxSum max_sum(const Team& team, const float* x, std::size_t n, std::size_t step) {
  constexpr unsigned kGroup = 4;  // scores that are on their way at a time
  float m = -INFINITY, sum = 0;
  for (std::size_t k = team.lane; k < n; k += kGroup * team.size) {
    float v[kGroup], before = m;
    for (unsigned g = 0; g < kGroup; ++g) {
      const std::size_t at = k + g * team.size;
      v[g] = at < n ? x[at * step] : -INFINITY;
      m = Largest()(m, v[g]);
    }
    if (m > before) sum *= exponential(before - m);
    for (unsigned g = 0; g < kGroup; ++g) sum += exponential(v[g] - kShift(m));
  }
  const float all = team.over(m, Largest());
  if (m < all) sum *= exponential(m - all);
  return {kShift(all), team.over(sum, Sum())};
}

/// Shift of scores, and the log of the sum of the exponentials of the shifted scores. Kept apart,
/// the two lose nothing when scores are large.
struct LogSum {
  float shift, log;
};
template <float (*kShift)(float) = shift>
__device__ LogSum log_sum(const Team& team, const float* x, std::size_t n, std::size_t step) {
  const MaxSum s = max_sum<kShift>(team, x, n, step);
  return {s.shift, logf(s.sum)};
}

}  // namespace dynet::cuda
