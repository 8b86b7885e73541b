#pragma once

// Exponentials of scores that may be minus infinity.
#include <algorithm>
#include <cmath>
#include <limits>

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

}  // namespace dynet::cpu::DYNET_ISA
