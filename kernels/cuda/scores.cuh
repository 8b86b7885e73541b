#pragma once

// Exponentials of scores, of which minus infinity is one; as kernels/cpu/exponential.h.

#include "kernels/cuda/lines.cuh"

namespace dynet::cuda {

/// What is subtracted from scores whose largest is `m`; a line without any score keeps its minus
/// infinities.
inline __device__ float shift(float m) { return m == -INFINITY ? 0.0f : m; }

/// e^x, zero where it is close to the smallest number.
inline __device__ float exponential(float x) {
  constexpr float kTiny = 8 * 1.17549435e-38f;
  const float e = expf(x);
  return e < kTiny ? 0.0f : e;
}

/// Of scores, `n` of them `step` apart: what was subtracted from them, and the log of the sum of
/// the exponentials of what is left. Kept apart, the two lose nothing when scores are large.
struct LogSum {
  float shift, log;
};
inline __device__ float shift_of(const Team& team, const float* x, std::size_t n,
                                 std::size_t step) {
  float m = -INFINITY;
  for (std::size_t k = team.lane; k < n; k += team.size) m = Largest()(m, x[k * step]);
  return shift(team.over(m, Largest()));
}
inline __device__ LogSum log_sum(const Team& team, const float* x, std::size_t n,
                                 std::size_t step) {
  const float m = shift_of(team, x, n, step);
  float sum = 0;
  for (std::size_t k = team.lane; k < n; k += team.size) sum += exponential(x[k * step] - m);
  return {m, logf(team.over(sum, Sum()))};
}

}  // namespace dynet::cuda
