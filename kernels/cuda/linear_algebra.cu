#include <limits>

#include "kernels/cuda/along.cuh"
#include "kernels/cuda/each.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/products.h"

namespace dynet::cuda {
namespace {

// Square matrices of a batch, by node and batch element.
struct Squares {
  std::size_t n, size, each, count;  // rows, elements, batch elements per node, number of matrices

  explicit Squares(const Batch<float>& b)
      : n(b.dim(0).rows()), size(n * n), each(b.dim(0).bd), count(b.count * each) {}
};

// The row at or below `k` with the largest element in column k, in every thread.
__device__ std::size_t find_pivot(const float* a, std::size_t n, std::size_t k) {
  DYNET_SHARED(float, value, kThreads);
  DYNET_SHARED(std::size_t, row, kThreads);
  const unsigned t = threadIdx.x;
  float best = -1;
  std::size_t at = k;
  for (std::size_t i = k + t; i < n; i += blockDim.x)
    if (const float v = fabsf(a[k * n + i]); v > best) {
      best = v;
      at = i;
    }
  __syncthreads();  // until the previous pivot is read
  value[t] = best;
  row[t] = at;
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half &&
        (value[t + half] > value[t] || (value[t + half] == value[t] && row[t + half] < row[t]))) {
      value[t] = value[t + half];
      row[t] = row[t + half];
    }
  }
  __syncthreads();
  return row[0];
}

// LU factorization with row pivoting, one block per matrix. `order` gets the original index of each
// row, `swaps` the number of row exchanges.
DYNET_GLOBAL void factor_kernel(TensorArray<const float> x, Squares s, float* factors,
                                unsigned* order, unsigned* swaps) {
  begin_kernel();
  const std::size_t which = blockIdx.x, n = s.n;
  const float* const from = x[which / s.each] + which % s.each * s.size;
  float* const a = factors + which * s.size;
  unsigned* const rows = order + which * n;
  for (std::size_t e = threadIdx.x; e < s.size; e += blockDim.x) a[e] = from[e];
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) rows[i] = static_cast<unsigned>(i);
  unsigned count = 0;
  __syncthreads();
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t pivot = find_pivot(a, n, k);
    if (pivot != k) {
      ++count;
      for (std::size_t j = threadIdx.x; j < n; j += blockDim.x) {
        const float v = a[j * n + k];
        a[j * n + k] = a[j * n + pivot];
        a[j * n + pivot] = v;
      }
      if (threadIdx.x == 0) {
        const unsigned row = rows[k];
        rows[k] = rows[pivot];
        rows[pivot] = row;
      }
    }
    __syncthreads();
    // A zero pivot means a column of zeros; no division.
    const float diagonal = a[k * n + k];
    for (std::size_t i = k + 1 + threadIdx.x; i < n && diagonal != 0; i += blockDim.x)
      a[k * n + i] /= diagonal;
    __syncthreads();
    for (std::size_t j = k + 1 + threadIdx.x / kWarp; j < n; j += blockDim.x / kWarp) {
      const float factor = a[j * n + k];
      for (std::size_t i = k + 1 + threadIdx.x % kWarp; i < n; i += kWarp)
        a[j * n + i] -= a[k * n + i] * factor;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) swaps[which] = count;
}

// Column c of an inverse, by one thread or a warp; each thread has its own rows.
__device__ void solve_column(const Team& team, const float* a, const unsigned* rows, std::size_t n,
                             std::size_t c, float* y) {
  for (std::size_t i = team.lane; i < n; i += team.size) y[i] = rows[i] == c ? 1.0f : 0.0f;
  const auto known = [&](std::size_t j) {  // y[j], in every thread
    const auto owner = static_cast<unsigned>(j % team.size);
    const float v = team.lane == owner ? y[j] : 0;
    return team.size == 1 ? v : __shfl_sync(kAllLanes, v, static_cast<int>(owner));
  };
  for (std::size_t j = 0; j < n; ++j) {
    const float v = known(j);
    const std::size_t next = j + 1, behind = (team.lane + team.size - next % team.size) % team.size;
    for (std::size_t i = next + behind; i < n; i += team.size) y[i] -= a[j * n + i] * v;
  }
  for (std::size_t j = n; j-- > 0;) {
    if (team.lane == j % team.size) y[j] /= a[j * n + j];
    const float v = known(j);
    for (std::size_t i = team.lane; i < j; i += team.size) y[i] -= a[j * n + i] * v;
  }
}

// Returns whether cuBLAS factors the matrices.
bool are_large(const Squares& s) {
  constexpr std::size_t kLarge = 32;
  return s.n > kLarge && s.n <= std::size_t{std::numeric_limits<int>::max()} &&
         s.count <= std::size_t{std::numeric_limits<int>::max()};
}

// Results of cuBLAS for contiguous matrices.
struct Large {
  float *factors, *inverses;  // null: none
  int *pivots, *info;
};
Large factor_large(Queue& q, TensorArray<const float> x, const Squares& s, bool invert) {
  const auto numbers = [&](std::size_t n) { return reinterpret_cast<int*>(q.temporary(n)); };
  const auto listed = [&](float* first) {
    float** const each = q.stage<float*>(s.count);
    for (std::size_t i = 0; i < s.count; ++i) each[i] = first + i * s.size;
    return q.on_device(each);
  };
  const std::size_t all = s.count * s.size;
  const Large f{q.temporary(all), invert ? q.temporary(all) : nullptr, numbers(s.count * s.n),
                numbers(s.count)};
  each_element(q, {f.factors, s.size, nullptr}, s.count, s.size,
               [=, each = s.each, size = s.size] __device__(std::size_t i, std::size_t e) {
                 const Quotient at = divide(i, each);
                 return x[at.by][at.rest * size + e];
               });
  q.factor({static_cast<int>(s.n), static_cast<int>(s.count), listed(f.factors), f.pivots, f.info,
            invert ? listed(f.inverses) : nullptr});
  return f;
}

struct Factors {
  float* values;
  unsigned *order, *swaps;
};

Factors factor(Queue& q, TensorArray<const float> x, const Squares& s) {
  const auto numbers = [&](std::size_t n) { return reinterpret_cast<unsigned*>(q.temporary(n)); };
  const Factors f{q.temporary(s.count * s.size), numbers(s.count * s.n), numbers(s.count)};
  q.launch(Grid{static_cast<unsigned>(s.count)}, factor_kernel, x, s, f.values, f.order, f.swaps);
  return f;
}

// The inverse of each matrix; NaN for a matrix without an inverse.
struct Inverses {
  const float* values;
  const int* unknown = nullptr;  // per matrix: not zero if there is no inverse
  std::size_t size;

  __device__ float operator()(std::size_t which, std::size_t e) const {
    return unknown && unknown[which] ? NAN : values[which * size + e];
  }
};
Inverses invert(Queue& q, TensorArray<const float> x, const Squares& s) {
  constexpr std::size_t kShort = 8;
  if (are_large(s)) {
    const Large large = factor_large(q, x, s, true);
    return {large.inverses, large.info, s.size};
  }
  const Factors f = factor(q, x, s);
  float* const to = q.temporary(s.count * s.size);
  const auto solve = [=] __device__(const Team& team, std::size_t k) {
    const Quotient at = divide(k, s.n);  // matrix, column
    solve_column(team, f.values + at.by * s.size, f.order + at.by * s.n, s.n, at.rest,
                 to + at.by * s.size + at.rest * s.n);
  };
  const unsigned size = s.n <= kShort ? 1 : kWarp;
  q.launch_for(s.count * s.n * size, lines_kernel<decltype(solve)>, s.count * s.n, size, solve);
  return {to, nullptr, s.size};
}

void inverse_forward(Queue& q, const Batch<float>& b) {
  const Squares s(b);
  const Inverses y = invert(q, q.ins(b, 0), s);
  each_value(q, b, [=, each = s.each, size = s.size] __device__(std::size_t i, std::size_t e) {
    const Quotient at = divide(e, size);
    return y(i * each + at.by, at.rest);
  });
}

// dx = -y' dy y'
void inverse_backward(Queue& q, const GradientBatch<float>& b) {
  const Squares s(b);
  const float* const y =
      gathered(q, q.many(const_cast<const float* const*>(b.outs), b.count, b.dim().size()), b.count,
               b.dim().size());
  const float* const dy = gathered(q, q.d_outs(b), b.count, b.dim().size());
  float* const left = q.temporary(s.count * s.size);
  float* const dx = q.temporary(s.count * s.size);
  multiply(q, s.n, s.n, s.n, {y, true, s.size}, {dy, false, s.size}, left, false, s.count, s.size);
  multiply(q, s.n, s.n, s.n, {left, false, s.size}, {y, true, s.size}, dx, false, s.count, s.size);
  each_gradient(q, b, 0, [=, size = b.dim().size()] __device__(std::size_t i, std::size_t e) {
    return -dx[i * size + e];
  });
}

// log det, from log |det| and its sign: NaN if the determinant is negative. A determinant of zero
// has no sign.
__device__ float log_of(float logarithm, bool negative) {
  return negative && logarithm > -INFINITY ? NAN : logarithm;
}

void logdet_forward(Queue& q, const Batch<float>& b) {
  const Squares s(b);
  if (are_large(s)) {
    const Large f = factor_large(q, q.ins(b, 0), s, false);
    const TensorArray<float> y = q.outs(b);
    for_lines(q, s.count, s.n, false, [=] __device__(const Team& team, std::size_t which) {
      const std::size_t n = s.n;
      const float* const a = f.factors + which * s.size;
      const int* const pivots = f.pivots + which * n;
      float sum = 0, turns = 0;
      for (std::size_t k = team.lane; k < n; k += team.size) {
        const float pivot = a[k * n + k];
        sum += logf(fabsf(pivot));
        turns += (pivot < 0) != (pivots[k] != static_cast<int>(k + 1)) ? 1 : 0;
      }
      sum = team.over(sum, Sum());
      turns = team.over(turns, Sum());
      if (team.lane == 0) y[which / s.each][which % s.each] = log_of(sum, fmodf(turns, 2) != 0);
    });
    return;
  }
  const Factors f = factor(q, q.ins(b, 0), s);
  each_value(q, b, [=] __device__(std::size_t i, std::size_t e) {
    const std::size_t which = i * s.each + e, n = s.n;
    const float* const a = f.values + which * s.size;
    float sum = 0;
    bool negative = n > 0 && f.swaps[which] % 2 != 0;
    for (std::size_t k = 0; k < n; ++k) {
      const float pivot = a[k * n + k];
      sum += logf(fabsf(pivot));
      if (pivot < 0) negative = !negative;
    }
    return n > 0 ? log_of(sum, negative) : sum;
  });
}

// dx = dy (x^-1)'
void logdet_backward(Queue& q, const GradientBatch<float>& b) {
  const Squares s(b);
  const Inverses inverse = invert(q, q.ins(b, 0), s);
  const TensorArray<const float> dy = q.d_outs(b);
  each_gradient(q, b, 0, [=] __device__(std::size_t i, std::size_t e) {
    const Quotient at = divide(e, s.size), place = divide(at.rest, s.n);
    return dy[i][at.by] * inverse(i * s.each + at.by, place.rest * s.n + place.by);
  });
}

// Circular sums of operands u and v with n elements, each with or without a batch: element e is the
// sum over j of u_j v_{e - j} or u_j v_{e + j}, indices modulo n.
struct Around {
  TensorArray<const float> u, v;
  std::size_t n;
  bool u_each, v_each, plus;

  Around(TensorArray<const float> of_u, const Dim& u_dim, TensorArray<const float> of_v,
         const Dim& v_dim, bool forwards)
      : u(of_u),
        v(of_v),
        n(u_dim.batch_size()),
        u_each(u_dim.bd != 1),
        v_each(v_dim.bd != 1),
        plus(forwards) {}
  __device__ float operator()(std::size_t i, std::size_t batch, std::size_t e) const {
    const float* const x = u[i] + (u_each ? batch * n : 0);
    const float* const y = v[i] + (v_each ? batch * n : 0);
    float sum = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t at = plus ? e + j : e + n - j;
      sum += x[j] * y[at < n ? at : at - n];
    }
    return sum;
  }
};

template <bool kPlus>
void circular_forward(Queue& q, const Batch<float>& b) {
  const Around y(q.ins(b, 0), b.dim(0), q.ins(b, 1), b.dim(1), kPlus);
  each_value(q, b, [=] __device__(std::size_t i, std::size_t e) {
    const Quotient at = divide(e, y.n);
    return y(i, at.by, at.rest);
  });
}

// Gradient of operand k: f of each batch element of the result, or the sum over all of them.
void circular_gradient(Queue& q, const GradientBatch<float>& b, std::size_t k, const Around& f) {
  const std::size_t n = b.dim().batch_size();
  const bool one = b.dim(k).bd == 1;
  sum_gradients(q, q.targets(b, k), b.dim(k).size(), one ? b.dim().bd : 1, true,
                [=] __device__(std::uint32_t i, std::size_t e, std::size_t r) {
                  const Quotient at = divide(e, n);
                  return f(i, one ? r : at.by, at.rest);
                });
}

void circ_conv_backward(Queue& q, const GradientBatch<float>& b) {
  for (std::size_t k = 0; k < 2; ++k)
    circular_gradient(q, b, k, Around(q.ins(b, 1 - k), b.dim(1 - k), q.d_outs(b), b.dim(), true));
}

void circ_corr_backward(Queue& q, const GradientBatch<float>& b) {
  const TensorArray<const float> dy = q.d_outs(b);
  circular_gradient(q, b, 0, Around(dy, b.dim(), q.ins(b, 1), b.dim(1), true));
  circular_gradient(q, b, 1, Around(q.ins(b, 0), b.dim(0), dy, b.dim(), false));
}

}  // namespace

const Kernels kInverse = {inverse_forward, inverse_backward};
const Kernels kLogdet = {logdet_forward, logdet_backward};
const Kernels kCircConv = {circular_forward<false>, circ_conv_backward};
const Kernels kCircCorr = {circular_forward<true>, circ_corr_backward};

}  // namespace dynet::cuda
