#pragma once

// Exponentials of scores, of which minus infinity is one.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/elementary.h"

namespace dynet::cpu::DYNET_ISA {

/// Exponentials are taken over as many columns at a time as fit in a buffer that stays in the
/// cache.
inline constexpr std::size_t kBuffer = 1024;

template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();

template <class T>
T largest(const T* x, std::size_t n) {
  return array(x, n).maxCoeff();
}

/// Number subtracted from scores whose largest is `m`; a column without any score keeps its minus
/// infinities.
template <class T>
T shift(T m) {
  return m == -kInfinity<T> ? T(0) : m;
}

/// The same where the logarithm of the sum is wanted, which is infinity if a score is: infinity
/// less itself would be no number.
template <class T>
T finite_shift(T m) {
  return m == kInfinity<T> ? T(0) : shift(m);
}

/// e^x of a vector, exactly zero where it is too small for its lanes: numbers below the normal ones
/// are slow.
template <class V>
V exponential(V x) {
  x = exp(x);
  return x < 8 * std::numeric_limits<LaneOf<V>>::min() ? V{} : x;
}
/// The same in place.
template <class T>
void exponentials(T* x, std::size_t n) {
  map_vectors(x, x, n, [](auto v) { return exponential(v); });
}

/// e^z over columns of length n: `fill(c, at, length, to)` writes z of a piece of column c, and
/// `use(c, at, length, e)` gets its exponentials, column by column.
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

/// The same for one column.
template <class T, class Fill, class Use>
void exponentials_of(std::size_t n, Fill fill, Use use) {
  over_columns<T>(
      1, n, [&](std::size_t, std::size_t at, std::size_t length, T* to) { fill(at, length, to); },
      [&](std::size_t, std::size_t at, std::size_t length, const T* e) { use(at, length, e); });
}

}  // namespace dynet::cpu::DYNET_ISA
