#include "kernels/cpu/sparsemax.h"

#include <cmath>

#include "dynet-like/attributes/indices.h"
#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"
#include "kernels/cpu/exponential.h"
#include "kernels/cpu/sparsemax_threshold.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

// Projects x onto the probability simplex: max(x - m - t, 0) with the maximum m and the t for which
// the sum is one.
void project(const T* x, T* p, std::size_t n, T* sorted) {
  if (n == 0) return;
  const bool ordered = std::none_of(x, x + n, [](T v) { return std::isnan(v); });
  std::copy_n(x, n, sorted);
  if (ordered) std::sort(sorted, sorted + n, [](T a, T b) { return a > b; });
  const T m = sorted[0];
  if (!ordered || m == kInfinity<T>) {
    std::fill_n(p, n, std::numeric_limits<T>::quiet_NaN());
    return;
  }
  const double t = sparsemax_threshold(sorted, n, shift(m));
  for (std::size_t j = 0; j < n; ++j) p[j] = std::max((x[j] - shift(m)) - static_cast<T>(t), T(0));
}

// Columns along the first dimension.
struct Columns {
  std::size_t n, count;
  explicit Columns(const Dim& d) : n(d.rows()), count(n ? d.size() / n : 0) {}
};

// Mean gradient of the elements below their bound: the sum of probabilities times gradients over
// the sum of probabilities.
T mean_gradient(const T* p, const T* at_bound, const T* dp, std::size_t n) {
  T sum = 0, weight = 0;
  for (std::size_t j = 0; j < n; ++j) {
    if (at_bound[j] != T(0)) continue;
    sum += p[j] * dp[j];
    weight += p[j];
  }
  return weight == T(0) ? T(0) : sum / weight;
}

// p_j = e^x_j / Z, limited to u_j. An element above its bound is fixed there: the mass left for the
// other elements only grows.
void bound_probabilities(const T* x, const T* u, T* p, T* at_bound, std::size_t n) {
  std::fill_n(at_bound, n, T(0));
  for (bool again = true; again;) {
    T m = -kInfinity<T>, left = 1, z = 0;
    for (std::size_t j = 0; j < n; ++j)
      if (at_bound[j] != T(0))
        left -= u[j];
      else
        m = std::max(m, x[j]);
    for (std::size_t j = 0; j < n; ++j) {
      if (at_bound[j] != T(0)) continue;
      p[j] = std::exp(x[j] - shift(m));
      z += p[j];
    }
    const T scale = z == T(0) ? T(0) : left / z;
    again = false;
    for (std::size_t j = 0; j < n; ++j) {
      if (at_bound[j] != T(0)) continue;
      p[j] *= scale;
      if (p[j] <= u[j] || p[j] != p[j]) continue;
      p[j] = u[j];
      at_bound[j] = T(1);
      again = true;
    }
  }
}

}  // namespace

void sparsemax_forward(const Batch<T>& b) {
  const Columns x(b.dim());
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t c = 0; c < x.count; ++c)
      project(b.in(0, i) + c * x.n, b.out(i) + c * x.n, x.n, b.aux(i));
}

void sparsemax_backward(const GradientBatch<T>& b) {
  const Columns x(b.dim());
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    for (std::size_t c = 0; c < x.count; ++c) {
      const T *p = b.out(i) + c * x.n, *dp = b.d_out(i) + c * x.n;
      T* const dx = b.d_in(0, i) + c * x.n;
      T sum = 0, support = 0;
      for (std::size_t j = 0; j < x.n; ++j) {
        sum += p[j] == T(0) ? T(0) : dp[j];
        support += p[j] == T(0) ? T(0) : T(1);
      }
      const T mean = support == T(0) ? T(0) : sum / support;
      for (std::size_t j = 0; j < x.n; ++j) {
        // NaN probabilities have NaN gradients.
        const T g = p[j] == T(0) ? T(0) : dp[j] - mean + T(0) * p[j];
        dx[j] = b.add(0, i) ? dx[j] + g : g;
      }
    }
  }
}

// Loss with p = sparsemax(x) and q = 1/k on the k elements of the support:
// x p - p p / 2 - (x q - q q / 2), whose gradient is p - q.
void sparsemax_loss_forward(const Batch<T>& b) {
  const std::size_t n = b.dim(0).rows();
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < b.dim().bd; ++e) {
      const auto support = read_support(b, i, e, n);
      const T* const x = b.in(0, i) + e * n;
      T* const p = b.aux(i) + e * n;
      project(x, p, n, b.aux(i) + b.dim().bd * n);
      // Scores relative to the maximum: the loss is unchanged, and large scores are exact.
      const double m = static_cast<double>(shift(largest(x, n)));
      const double q = 1 / static_cast<double>(support.size());
      double loss = q / 2;
      for (std::size_t j = 0; j < n; ++j) {
        const double v = static_cast<double>(p[j]);
        if (v != 0) loss += v * (static_cast<double>(x[j]) - m) - v * v / 2;
      }
      for (const unsigned j : support) {
        loss -= q * (static_cast<double>(x[j]) - m);
        if (x[j] != -kInfinity<T>) p[j] -= static_cast<T>(q);
      }
      b.out(i)[e] = static_cast<T>(loss);
    }
}

void sparsemax_loss_backward(const GradientBatch<T>& b) {
  const std::size_t n = b.dim(0).rows();
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    for (std::size_t e = 0; e < b.dim().bd; ++e)
      store_or_add(b.add(0, i), array(b.d_in(0, i) + e * n, n),
                   array(static_cast<const T*>(b.aux(i)) + e * n, n) * b.d_out(i)[e]);
  }
}

void constrained_softmax_forward(const Batch<T>& b) {
  const Columns y(b.dim());
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t c = 0; c < y.count; ++c) {
      const std::size_t at = c * y.n;
      bound_probabilities(b.in(0, i) + at % b.dim(0).size(), b.in(1, i) + at % b.dim(1).size(),
                          b.out(i) + at, b.aux(i) + at, y.n);
    }
}

void constrained_softmax_backward(const GradientBatch<T>& b) {
  const Columns y(b.dim());
  for (std::size_t k = 0; k < 2; ++k) {
    const std::size_t size = b.dim(k).size();
    for (std::size_t i = 0; i < b.count; ++i) {
      if (!b.d_in(k, i)) continue;
      if (!b.add(k, i)) std::fill_n(b.d_in(k, i), size, T(0));
      for (std::size_t c = 0; c < y.count; ++c) {
        const std::size_t at = c * y.n;
        const T *p = b.out(i) + at, *at_bound = b.aux(i) + at, *dp = b.d_out(i) + at;
        T* const d = b.d_in(k, i) + at % size;
        const T mean = mean_gradient(p, at_bound, dp, y.n);
        for (std::size_t j = 0; j < y.n; ++j) {
          const bool bound = at_bound[j] != T(0);
          if (k == 0 && !bound) d[j] += p[j] * (dp[j] - mean);
          if (k == 1 && bound) d[j] += dp[j] - mean;
        }
      }
    }
  }
}

}  // namespace dynet::cpu::DYNET_ISA
