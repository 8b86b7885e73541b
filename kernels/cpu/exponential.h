#pragma once

// Exponentials of scores that may be minus infinity.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/elementary.h"

namespace dynet::cpu::DYNET_ISA {

/// Elements of a buffer for the exponentials of one or more columns; it fits the cache.
inline constexpr std::size_t kBuffer = 1024;

template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();

template <class T>
T largest(const T* x, std::size_t n) {
  return array(x, n).maxCoeff();
}

/// Shift of scores with maximum `m`; zero if all scores are minus infinity.
template <class T>
T shift(T m) {
  return m == -kInfinity<T> ? T(0) : m;
}

/// Shift for log-sum-exp: zero also if a score is infinity, since infinity - infinity is NaN.
template <class T>
T finite_shift(T m) {
  return m == kInfinity<T> ? T(0) : shift(m);
}

/// Entropy of a distribution with the log-partition `log_z` from a sum with rounding errors; NaN
/// for scores that are NaN or positive infinity.
inline double checked_entropy(double log_z, double sum) {
  return log_z < kInfinity<double> ? std::max(0.0, sum) : std::numeric_limits<double>::quiet_NaN();
}

/// e^x, flushed to zero near the subnormal range, where arithmetic is slow.
template <class V>
V exponential(V x) {
  x = exp(x);
  return x < 8 * std::numeric_limits<LaneOf<V>>::min() ? V{} : x;
}
/// `exponential` of n elements, in place.
template <class T>
void exponentials(T* x, std::size_t n) {
  map_vectors(x, x, n, [](auto v) { return exponential(v); });
}

/// Softmax of columns of length n, also in place. It is zero if all scores are minus infinity.
template <class T>
void softmax_columns(const T* x, T* y, std::size_t n, std::size_t columns) {
  const std::size_t wide = std::max<std::size_t>(1, kBuffer / n);
  for (std::size_t first = 0; first < columns; first += wide) {
    const std::size_t last = std::min(columns, first + wide);
    for (std::size_t c = first; c < last; ++c)
      array(y + c * n, n) = array(x + c * n, n) - shift(largest(x + c * n, n));
    exponentials(y + first * n, (last - first) * n);
    for (std::size_t c = first; c < last; ++c) {
      auto column = array(y + c * n, n);
      const T sum = sum_in_order(column);
      column *= sum == T(0) ? T(0) : T(1) / sum;
    }
  }
}

/// e^z over columns of length n: `fill(c, at, length, to)` writes z for a piece of column c, and
/// `use(c, at, length, e)` gets the exponentials of the piece, column by column.
template <class T, class Fill, class Use>
void over_columns(std::size_t columns, std::size_t n, Fill fill, Use use) {
  alignas(64) T buffer[kBuffer];
  if (n == 0) return;
  if (n > kBuffer) {
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t at = 0; at < n; at += kBuffer) {
        const std::size_t length = std::min(kBuffer, n - at);
        fill(c, at, length, buffer);
        exponentials(buffer, length);
        use(c, at, length, buffer);
      }
    return;
  }
  const std::size_t wide = kBuffer / n;
  for (std::size_t first = 0; first < columns; first += wide) {
    const std::size_t group = std::min(wide, columns - first);
    for (std::size_t c = 0; c < group; ++c) fill(first + c, 0, n, buffer + c * n);
    exponentials(buffer, group * n);
    for (std::size_t c = 0; c < group; ++c) use(first + c, 0, n, buffer + c * n);
  }
}

/// `over_columns` for one column.
template <class T, class Fill, class Use>
void exponentials_of(std::size_t n, Fill fill, Use use) {
  over_columns<T>(
      1, n, [&](std::size_t, std::size_t at, std::size_t length, T* to) { fill(at, length, to); },
      [&](std::size_t, std::size_t at, std::size_t length, const T* e) { use(at, length, e); });
}

/// The sum of e^z over n scores; `fill(at, length, to)` writes z for a piece.
template <class T, class Fill>
T sum_of_exponentials(std::size_t n, Fill fill) {
  T sum = 0;
  exponentials_of<T>(n, fill, [&](std::size_t, std::size_t length, const T* e) {
    sum += sum_in_order(array(e, length));
  });
  return sum;
}

/// Softmax of columns of length n that are not in memory: `fill(c, to)` writes the scores of column
/// c, and `use(c, p)` gets the probabilities, for c in [begin, end).
template <class T, class Fill, class Use>
void over_softmaxes(std::size_t begin, std::size_t end, std::size_t n, Fill fill, Use use) {
  alignas(64) T buffer[kBuffer];
  std::vector<T> large(n > kBuffer ? n : 0);
  T* const p = large.empty() ? buffer : large.data();
  const std::size_t wide = std::max<std::size_t>(1, kBuffer / n);
  for (std::size_t first = begin; first < end; first += wide) {
    const std::size_t group = std::min(wide, end - first);
    for (std::size_t c = 0; c < group; ++c) fill(first + c, p + c * n);
    softmax_columns<T>(p, p, n, group);
    for (std::size_t c = 0; c < group; ++c) use(first + c, static_cast<const T*>(p + c * n));
  }
}

}  // namespace dynet::cpu::DYNET_ISA
