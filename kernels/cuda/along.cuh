#pragma once

// Loops over lines of tensors, with several threads per line.

#include "dynet-like/attributes/along.h"
#include "kernels/cuda/loops.cuh"

namespace dynet::cuda {

/// The threads that process a line together: a block, a warp, or one thread.
struct Team {
  unsigned lane, size;

  /// Reduces v over the team by f; all threads must call, and all get the result.
  template <class T, class F>
  __device__ T over(T v, F f) const {
    return size == 1 ? v : size == kWarp ? over_warp(v, f) : over_block(v, f);
  }
};

/// A tensor as seen along one of its dimensions, see Along.
struct Lines {
  std::size_t inner, size, lines;

  Lines(std::size_t length, std::size_t count) : inner(1), size(length), lines(count) {}
  Lines(const Dim& dim, std::size_t d) {
    const Along a(dim, d);
    inner = a.inner, size = a.size, lines = a.lines(dim.bd);
  }
  /// Index of the first element of a line; the elements of a line are `inner` apart.
  DYNET_DEVICE std::size_t first(std::size_t line) const {
    if (inner == 1) return line * size;
    const Quotient at = divide(line, inner);
    return at.by * size * inner + at.rest;
  }
  /// The line of an element, and its index in the line.
  struct Place {
    std::size_t line, number;
  };
  DYNET_DEVICE Place of(std::size_t e) const {
    const Quotient at = divide(e, size * inner), in = divide(at.rest, inner);
    return {at.by * inner + in.rest, in.by};
  }
};

template <class F>
DYNET_GLOBAL void lines_kernel(std::size_t lines, unsigned size, F f) {
  begin_kernel();
  const Team team{threadIdx.x % size, size};
  for (std::size_t k = thread_number() / size; k < lines; k += thread_count() / size) f(team, k);
}

/// f(team, k) for `lines` lines of about `length` elements; all threads of the team call f.
/// `apart`: elements of neighbouring lines, not those of a line, are contiguous.
template <class F>
void for_lines(Queue& q, std::size_t lines, std::size_t length, bool apart, F f) {
  constexpr std::size_t kShort = 8, kLong = 512, kMany = 2048;
  const unsigned size = length <= kShort || (apart && lines >= kMany) ? 1
                        : length > kLong                              ? kThreads
                                                                      : kWarp;
  q.launch_for(lines * size, lines_kernel<F>, lines, size, f);
}

/// f(team, node, line) for all lines of all nodes of a batch.
template <class F>
void for_lines_of(Queue& q, const Batch<float>& b, const Lines& x, F f) {
  const std::size_t lines = x.lines;
  for_lines(q, b.count * lines, x.size, x.inner > 1,
            [=] __device__(const Team& team, std::size_t k) {
              const Quotient at = divide(k, lines);
              f(team, at.by, at.rest);
            });
}

/// Writes the gradient of a line: stores the first node's part, adds all later parts.
struct LineWriter {
  float* to;
  bool add;

  __device__ void operator()(std::size_t e, float v) const { to[e] = add ? to[e] + v : v; }
};

/// Gradients of the lines `x` of an operand, at the targets p of `size` numbers: f(team, node, line
/// of the result, write) for the nodes of each target in order. A line of the operand corresponds
/// to `repeats` lines of the result, at intervals of the operand's number of lines. f calls
/// write(e, v) once for each element of the line, with e an index in the whole operand, always in
/// the same thread.
template <class F>
void line_gradients(Queue& q, const GradientTargets& p, std::size_t size, const Lines& x,
                    std::size_t repeats, F f) {
  const Targets t = p.first;
  const std::size_t lines = x.lines;
  for_lines(q, t.count * lines, x.size, x.inner > 1,
            [=] __device__(const Team& team, std::size_t k) {
              const Quotient at = divide(k, lines);
              LineWriter write{t.to[at.by], t.add(at.by)};
              for (std::uint32_t m = t.begin(at.by); m < t.end(at.by); ++m)
                for (std::size_t r = 0; r < repeats; ++r) {
                  f(team, t.node(m), at.rest + r * lines, write);
                  write.add = true;
                }
            });
  add_parts(q, p, size);
}
/// The same for operand `operand`.
template <class F>
void line_gradients(Queue& q, const GradientBatch<float>& b, std::size_t operand, const Lines& x,
                    std::size_t repeats, F f) {
  line_gradients(q, q.targets(b, operand), b.dim(operand).size(), x, repeats, f);
}

/// write(k, value(0) + ... + value(k)) for k below n, in order; all threads of the team must call.
template <class V, class W>
__device__ void running_sums(const Team& team, std::size_t n, V value, W write) {
  DYNET_SHARED(float, totals, kThreads / kWarp);
  float before = 0;
  for (std::size_t first = 0; first < n; first += team.size) {
    const std::size_t k = first + team.lane;
    float sum = k < n ? value(k) : 0;
    if (team.size > 1) {
      const unsigned lane = team.lane % kWarp;
      for (unsigned d = 1; d < kWarp; d *= 2) {
        const float left = __shfl_up_sync(kAllLanes, sum, d);
        if (lane >= d) sum += left;
      }
    }
    float all = sum;  // of the team
    if (team.size == kWarp) all = __shfl_sync(kAllLanes, sum, kWarp - 1);
    if (team.size > kWarp) {
      const unsigned warp = team.lane / kWarp;
      __syncthreads();  // until the previous totals are read
      if (team.lane % kWarp == kWarp - 1) totals[warp] = sum;
      __syncthreads();
      all = 0;
      float left = 0;
      for (unsigned w = 0; w < kThreads / kWarp; ++w) {
        if (w == warp) left = all;
        all += totals[w];
      }
      sum += left;
    }
    if (k < n) write(k, before + sum);
    before += all;
  }
}

/// Integer keys in the order of the numbers; NaN beyond the infinity of its sign.
inline __device__ unsigned order_key(float x) {
  const unsigned bits = __float_as_uint(x + 0.0f);  // zeros are equal
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}
/// Key for the maximum, or minimum, of numbers; of equal numbers the smallest index wins.
inline __device__ std::uint64_t rank_key(float x, std::size_t index, bool largest) {
  const unsigned order = order_key(largest ? x : -x);
  return std::uint64_t{order} << 32 | (0xffffffffu - static_cast<unsigned>(index));
}
inline __device__ std::size_t index_of_key(std::uint64_t key) {
  return 0xffffffffu - static_cast<unsigned>(key);
}
struct LargestKey {
  static __device__ std::uint64_t zero() { return 0; }
  __device__ std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    return a < b ? b : a;
  }
};

}  // namespace dynet::cuda
