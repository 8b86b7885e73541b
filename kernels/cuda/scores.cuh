#pragma once

// Exponentials of scores that may be minus infinity, as in kernels/cpu/exponential.h.

#include "kernels/cuda/along.cuh"

namespace dynet::cuda {

/// Number subtracted from scores with maximum `m`; zero if all scores are minus infinity.
inline __device__ float shift(float m) { return m == -INFINITY ? 0.0f : m; }

/// shift for log sums, which are infinite if a score is: zero also for m = infinity.
inline __device__ float finite_shift(float m) { return m == INFINITY ? 0.0f : shift(m); }

/// e^x, flushed to zero near the smallest normal number.
inline __device__ float exponential(float x) {
  constexpr float kTiny = 8 * 1.17549435e-38f;
  const float e = expf(x);
  return e < kTiny ? 0.0f : e;
}

/// Shift of `n` scores at distance `step`, and the sum of the exponentials of the shifted scores.
struct MaxSum {
  float shift, sum;
};
/// Reads each score once; the sum so far is rescaled when the maximum grows.
template <float (*kShift)(float) = shift>
__device__ MaxSum max_sum(const Team& team, const float* x, std::size_t n, std::size_t step) {
  constexpr unsigned kGroup = 4;  // loads in flight
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

/// Shift of scores, and the log of the sum of the exponentials of the shifted scores. Kept
/// separately, they lose no precision for large scores.
struct LogSum {
  float shift, log;
};
template <float (*kShift)(float) = shift>
__device__ LogSum log_sum(const Team& team, const float* x, std::size_t n, std::size_t step) {
  const MaxSum s = max_sum<kShift>(team, x, n, step);
  return {s.shift, logf(s.sum)};
}

}  // namespace dynet::cuda
