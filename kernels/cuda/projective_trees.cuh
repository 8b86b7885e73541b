#pragma once

// Sums over projective dependency trees, as in kernels/cpu/projective_trees.h; one block per
// sentence, one thread per span of one width, or per term.

#include "dynet-like/structures/dependency_trees/attributes.h"
#include "kernels/cuda/scores.cuh"
#include "kernels/cuda/tree_sentence.cuh"

namespace dynet::cuda {

enum SpanTable : unsigned { kShared, kToRight, kToLeft, kRight, kLeft };

/// Indices of a span's sum and of the factors of its terms; the factors of term k + 1 are at
/// constant distances from those of term k.
struct SpanSum {
  std::size_t own, x, y, stride;

  __device__ static std::size_t place(const TreeSentence& s, unsigned table, unsigned w,
                                      unsigned i) {
    return table * s.table + w * s.row + i;
  }
  __device__ SpanSum(const TreeSentence& s, unsigned table, unsigned w, unsigned i)
      : own(place(s, table, w, i)), stride(s.row) {
    x = table == kShared  ? place(s, kRight, 0, i)
        : table == kRight ? place(s, kToRight, 1, i)
                          : place(s, kLeft, 0, i);
    y = table == kShared  ? place(s, kLeft, w - 1, i + 1)
        : table == kRight ? place(s, kRight, w - 1, i + 1)
                          : place(s, kToLeft, w, i);
  }
  __device__ std::size_t x_of(unsigned k) const { return x + k * stride; }
  __device__ std::size_t y_of(unsigned k) const { return y - k * (stride - 1); }
};

inline __device__ double add_up(const double* sums, const SpanSum& s, unsigned width) {
  double m = -INFINITY;
  for (unsigned k = 0; k < width; ++k) m = LargestDouble()(m, sums[s.x_of(k)] + sums[s.y_of(k)]);
  if (m == -INFINITY) m = 0;
  float sum = 0;
  for (unsigned k = 0; k < width; ++k)
    sum += expf(static_cast<float>(sums[s.x_of(k)] + sums[s.y_of(k)] - m));
  return m + static_cast<double>(logf(sum));
}

inline __device__ float log_share(const double* sums, const SpanSum& s, unsigned k) {
  if (sums[s.own] == -INFINITY) return -INFINITY;
  return static_cast<float>(sums[s.x_of(k)] + sums[s.y_of(k)] - sums[s.own]);
}

// Computes the sums of all spans.
static DYNET_GLOBAL void sums_of_spans_kernel(const TreeSentence* all) {
  begin_kernel();
  const TreeSentence s = all[blockIdx.x];
  const unsigned n = s.nodes;
  double* const sums = s.sums;
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
    sums[SpanSum::place(s, kRight, 0, i)] = sums[SpanSum::place(s, kLeft, 0, i)] = 0;
  __syncthreads();
  for (unsigned w = 1; w < n; ++w) {
    for (unsigned i = threadIdx.x; i + w < n; i += blockDim.x) {
      const SpanSum span(s, kShared, w, i);
      const double shared = sums[span.own] = add_up(sums, span, w);
      sums[SpanSum::place(s, kToRight, w, i)] = shared + s.score(i, i + w);
      sums[SpanSum::place(s, kToLeft, w, i)] = i == 0 ? -INFINITY : shared + s.score(i + w, i);
    }
    __syncthreads();
    for (unsigned e = threadIdx.x; e < 2 * (n - w); e += blockDim.x) {
      const SpanSum span(s, e % 2 ? kLeft : kRight, w, e / 2);
      const bool among_others = s.single_root && e == 0 && w + 1 < n;
      sums[span.own] = among_others ? -INFINITY : add_up(sums, span, w);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) *s.log_z = sums[SpanSum::place(s, kRight, n - 1, 0)];
}

// The expectation, over the splits of a span, of the sum of the parts' slopes.
inline __device__ double mean_of(const TreeSentence& s, const SpanSum& span, unsigned width) {
  double sum = 0, weight = 0;
  for (unsigned k = 0; k < width; ++k) {
    const double p = static_cast<double>(exponential(log_share(s.sums, span, k)));
    weight += p;
    sum += p * (s.slopes[span.x_of(k)] + s.slopes[span.y_of(k)]);
  }
  return weight == 0 ? 0 : sum / weight;
}

// Computes the derivatives of the sums.
static DYNET_GLOBAL void slopes_of_spans_kernel(const TreeSentence* all, Wanted wanted) {
  begin_kernel();
  const TreeSentence s = all[blockIdx.x];
  const unsigned n = s.nodes;
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
    s.slopes[SpanSum::place(s, kRight, 0, i)] = s.slopes[SpanSum::place(s, kLeft, 0, i)] = 0;
  __syncthreads();
  for (unsigned w = 1; w < n; ++w) {
    for (unsigned i = threadIdx.x; i + w < n; i += blockDim.x) {
      const SpanSum span(s, kShared, w, i);
      const double shared = s.slopes[span.own] = mean_of(s, span, w);
      s.slopes[SpanSum::place(s, kToRight, w, i)] = shared + s.direction(wanted, i, i + w);
      s.slopes[SpanSum::place(s, kToLeft, w, i)] =
          i == 0 ? 0 : shared + s.direction(wanted, i + w, i);
    }
    __syncthreads();
    for (unsigned e = threadIdx.x; e < 2 * (n - w); e += blockDim.x) {
      const SpanSum span(s, e % 2 ? kLeft : kRight, w, e / 2);
      s.slopes[span.own] = mean_of(s, span, w);
    }
    __syncthreads();
  }
}

// Distributes the mass of a span to the parts of term k; the terms of all spans of one width write
// to distinct places. Returns the entropy contribution of the choice of this split.
inline __device__ double pass_on(const TreeSentence& s, const SpanSum& span, unsigned k,
                                 bool with_slopes) {
  const double own = s.mass[span.own], d_own = with_slopes ? s.d_mass[span.own] : 0;
  if (own == 0 && d_own == 0) return 0;
  const float log_p = log_share(s.sums, span, k);
  const double p = static_cast<double>(exponential(log_p));
  if (p == 0) return 0;
  s.mass[span.x_of(k)] += own * p;
  s.mass[span.y_of(k)] += own * p;
  if (with_slopes) {
    const double slope = s.slopes[span.x_of(k)] + s.slopes[span.y_of(k)] - s.slopes[span.own];
    s.d_mass[span.x_of(k)] += p * (d_own + own * slope);
    s.d_mass[span.y_of(k)] += p * (d_own + own * slope);
  }
  return -own * p * static_cast<double>(log_p);
}

// Computes `p`, and with `entropy` the entropy.
static DYNET_GLOBAL void shares_of_spans_kernel(const TreeSentence* all, Wanted wanted,
                                                bool entropy) {
  begin_kernel();
  const TreeSentence s = all[blockIdx.x];
  const unsigned n = s.nodes;
  const bool with_slopes = wanted != Wanted::probabilities;
  const std::size_t size = DependencyTables::kTables * s.table;
  for (std::size_t e = threadIdx.x; e < size; e += blockDim.x) {
    s.mass[e] = 0;
    if (with_slopes) s.d_mass[e] = 0;
  }
  for (std::size_t e = threadIdx.x; e < s.size(); e += blockDim.x) s.p[e] = 0;
  __syncthreads();
  if (threadIdx.x == 0) s.mass[SpanSum::place(s, kRight, n - 1, 0)] = *s.log_z == -INFINITY ? 0 : 1;
  double h = 0;
  for (unsigned w = n - 1; w > 0; --w) {
    __syncthreads();
    const unsigned terms = (n - w) * w;
    for (unsigned e = threadIdx.x; e < 2 * terms; e += blockDim.x) {
      const unsigned at = e % terms;
      h += pass_on(s, SpanSum(s, e < terms ? kRight : kLeft, w, at % (n - w)), at / (n - w),
                   with_slopes);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i + w < n; i += blockDim.x) {
      double* const of[] = {s.mass, s.d_mass};
      for (unsigned t = 0; t <= with_slopes; ++t) {
        const double right = of[t][SpanSum::place(s, kToRight, w, i)];
        const double left = of[t][SpanSum::place(s, kToLeft, w, i)];
        of[t][SpanSum::place(s, kShared, w, i)] = right + left;
        if (t != with_slopes) continue;
        s.p[std::size_t{i + w} * n + i] = right;
        if (i > 0) s.p[std::size_t{i} * n + i + w] = left;
      }
    }
    __syncthreads();
    for (unsigned e = threadIdx.x; e < terms; e += blockDim.x)
      h += pass_on(s, SpanSum(s, kShared, w, e % (n - w)), e / (n - w), with_slopes);
  }
  if (!entropy) return;
  h = over_block(h, AddDoubles());
  if (threadIdx.x == 0) *s.out = static_cast<float>(h > 0 ? h : 0);
}

}  // namespace dynet::cuda
