#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

// Sampling by weights.

namespace dynet::nn_detail {

/// log sum e^score; minus infinity for no scores or if all are minus infinity.
double log_sum(std::span<const double> scores);

/// log (e^a + e^b), likewise.
inline double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == -std::numeric_limits<double>::infinity() ? a : a + std::log1p(std::exp(b - a));
}

/// Keeps the n best of some, in their order.
template <class T, class Better>
void keep_best(std::vector<T>& some, std::size_t n, Better better) {
  const std::size_t kept = std::min(n, some.size());
  std::partial_sort(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(kept), some.end(),
                    better);
  some.resize(kept);
}

/// An index by its weight, where u is uniform in [0, 1). The number of weights if none is above
/// zero.
std::size_t draw_by_weight(std::span<const double> weights, double u);
/// Index drawn by weights e^score; u and the result as in draw_by_weight.
std::size_t draw_by_score(std::span<const double> scores, double u);

}  // namespace dynet::nn_detail
