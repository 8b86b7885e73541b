#pragma once

// Vectorized powers; those of floats are computed in double, so that the rounding error of b log(a)
// is negligible.
#include <utility>

#include "kernels/cpu/elementary.h"

namespace dynet::cpu::DYNET_ISA {

// Half of a vector of floats, as doubles.
template <std::size_t kFirst, std::size_t... I>
Doubles half_of(Floats v, std::index_sequence<I...>) {
  return __builtin_convertvector(__builtin_shufflevector(v, v, (kFirst + I)...), Doubles);
}
// x rounded to an integer, in the lowest bits of a double.
inline Doubles shifted(Doubles x) { return x + 0x1.8p52; }
inline Doubles rounded(Doubles x) { return shifted(x) - 0x1.8p52; }

// log(a) for positive normal numbers.
inline Doubles log_of_normal(Doubles a) {
  constexpr std::int64_t kOne = 0x3ff0000000000000, kRootOfHalf = 0x3fe6a09e667f3bcd;
  const auto bits = reinterpret_cast<Bits<Doubles>>(a) + (kOne - kRootOfHalf);
  const Bits<Doubles> k = bits >> 52;
  const Doubles m = reinterpret_cast<Doubles>((bits & 0xfffffffffffff) + kRootOfHalf);
  // Converts an integer below 2^52 to double.
  const Doubles n = reinterpret_cast<Doubles>(k + 0x4330000000000000) - (0x1p52 + 1023);
  const Doubles f = m - 1.0, s = f / (f + 2.0), z = s * s;
  Doubles c = z * (1.0 / 13) + 1.0 / 11;
  c = c * z + 1.0 / 9;
  c = c * z + 1.0 / 7;
  c = c * z + 1.0 / 5;
  c = c * z + 1.0 / 3;
  return n * 0.6931471805599453 + 2.0 * (s + s * z * c);
}
// e^x to twelve digits, for x in [-700, 300].
inline Doubles exp_for_float(Doubles x) {
  const Doubles n = rounded(x * 1.4426950408889634), r = x - n * 0.6931471805599453;
  Doubles c = r * (1.0 / 3628800) + 1.0 / 362880;
  c = c * r + 1.0 / 40320;
  c = c * r + 1.0 / 5040;
  c = c * r + 1.0 / 720;
  c = c * r + 1.0 / 120;
  c = c * r + 1.0 / 24;
  c = c * r + 1.0 / 6;
  c = c * r + 0.5;
  c = c * r + 1.0;
  const auto power_of_two = minus(reinterpret_cast<Bits<Doubles>>(shifted(n)) << 52,
                                  Bits<Doubles>{} - 0x3ff0000000000000);
  return (c * r + 1.0) * reinterpret_cast<Doubles>(power_of_two);
}

inline Doubles float_power(Doubles a, Doubles b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Doubles size = absolute(a), half = b * 0.5;
  const auto usual = (size > 0.0) & (size < kInfinity) & (absolute(b) < kInfinity);
  Doubles t = b * log_of_normal(usual ? size : Doubles{} + 1.0);
  t = t < -300.0 ? Doubles{} - 300.0 : t;  // outside the range of float
  t = t > 300.0 ? Doubles{} + 300.0 : t;
  Doubles y = exp_for_float(t);
  // All floats from 2^51 on are even integers.
  const auto large = absolute(b) > 0x1p50;
  const auto whole = large | (rounded(b) == b), even = large | (rounded(half) == half);
  y = (a < 0.0) & ~even ? (whole ? -y : Doubles{} + std::numeric_limits<double>::quiet_NaN()) : y;
  for (std::size_t i = 0; i < sizeof a / sizeof a[0]; ++i)
    if (!usual[i]) y[i] = std::pow(a[i], b[i]);
  return y;
}

/// c a^(b + more), also if the power itself is outside the range of T.
inline Floats scaled_power(Floats c, Floats a, Floats b, double more) {
  constexpr std::make_index_sequence<Lanes<double>::kWidth> kLanes;
  constexpr std::size_t kHalf = Lanes<double>::kWidth;
  const Doubles first =
      half_of<0>(c, kLanes) * float_power(half_of<0>(a, kLanes), half_of<0>(b, kLanes) + more);
  const Doubles second = half_of<kHalf>(c, kLanes) *
                         float_power(half_of<kHalf>(a, kLanes), half_of<kHalf>(b, kLanes) + more);
  Floats y;
  for (std::size_t i = 0; i < kHalf; ++i) {
    y[i] = static_cast<float>(first[i]);
    y[kHalf + i] = static_cast<float>(second[i]);
  }
  return y;
}
inline Doubles scaled_power(Doubles c, Doubles a, Doubles b, double more) {
  for (std::size_t i = 0; i < sizeof a / sizeof a[0]; ++i)
    a[i] = c[i] * std::pow(a[i], b[i] + more);
  return a;
}
/// a^b
template <class V>
V power(V a, V b) {
  return scaled_power(V{} + LaneOf<V>(1), a, b, 0);
}

}  // namespace dynet::cpu::DYNET_ISA
