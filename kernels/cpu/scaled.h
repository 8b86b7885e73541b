#pragma once

// Positive numbers of any size, in double: sums and products of e^score that leave the range of
// double lose nothing, and cost no logarithms.
#include <cmath>
#include <limits>

#include "kernels/cpu/elementary.h"

namespace dynet::cpu::DYNET_ISA {

/// m 2^e, where e is whole. Zero has an e below all others; what is not a number is so in m alone.
struct Scaled {
  static constexpr double kOfZero = -1e300;

  Doubles m, e;
};

/// 2^e for whole e up to 1000, zero below -1000.
[[gnu::always_inline]] inline Doubles whole_power_of_two(Doubles e) {
  using Words [[gnu::vector_size(sizeof(Doubles))]] = std::uint64_t;
  // The sum has e + 1023 in its lowest bits.
  const auto power =
      reinterpret_cast<Doubles>(reinterpret_cast<Words>(e + 0x1.80000000003ffp52) << 52);
  return e < -1000.0 ? Doubles{} : power;
}

/// The same number with m from 1 to 2.
[[gnu::always_inline]] inline Scaled normalized(Doubles m, Doubles e) {
  using Words [[gnu::vector_size(sizeof(Doubles))]] = std::uint64_t;
  const auto bits = reinterpret_cast<Words>(m);
  const Doubles power =
      reinterpret_cast<Doubles>((bits >> 52) | std::uint64_t{0x4330000000000000}) - (0x1p52 + 1023);
  const auto fraction = reinterpret_cast<Doubles>((bits & std::uint64_t{0xfffffffffffff}) |
                                                  std::uint64_t{0x3ff0000000000000});
  const auto positive = m > 0.0;
  const Doubles other = m == 0.0 ? Doubles{} + Scaled::kOfZero : e;
  return {positive ? fraction : m, positive ? e + power : other};
}

/// e^x to the last digits. NaN for NaN and infinity.
[[gnu::always_inline]] inline Scaled scaled_exp(Doubles x) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  constexpr double kRound = 0x1.8p52, kRoundLarge = 0x1p54;  // leave no bits behind the point
  const Doubles y = x * 0x1.71547652b82fep0;
  const auto usual = absolute(y) < 0x1p51;
  const Doubles n = usual ? (y + kRound) - kRound : (y + kRoundLarge) - kRoundLarge;
  // log 2 in two parts, as the fdlibm has it.
  const Doubles r = usual ? (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33 : x - x;
  constexpr double kInverse[] = {1.0 / 479001600,
                                 1.0 / 39916800,
                                 1.0 / 3628800,
                                 1.0 / 362880,
                                 1.0 / 40320,
                                 1.0 / 5040,
                                 1.0 / 720,
                                 1.0 / 120,
                                 1.0 / 24,
                                 1.0 / 6,
                                 0.5,
                                 1.0,
                                 1.0};  // of factorials
  Doubles p = Doubles{} + 1.0 / 6227020800.0;
  for (const double c : kInverse) p = p * r + c;
  const auto zero = x == -kInfinite;
  return {zero ? Doubles{} : p,
          zero ? Doubles{} + Scaled::kOfZero : (absolute(x) < kInfinite ? n : Doubles{})};
}

}  // namespace dynet::cpu::DYNET_ISA
