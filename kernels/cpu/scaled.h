#pragma once

// Positive numbers of unlimited range, in double: sums and products of e^score neither overflow nor
// underflow, and need no logarithms.
#include <cmath>
#include <limits>

#include "kernels/cpu/elementary.h"

namespace dynet::cpu::DYNET_ISA {

/// m 2^e with integer e. Zero has an e below all others; NaN and infinity are in m alone.
struct Scaled {
  static constexpr double kOfZero = -1e300;

  Doubles m, e;
};

/// 2^e for integer e up to 1000, zero below -1000.
[[gnu::always_inline]] inline Doubles whole_power_of_two(Doubles e) {
  using Words [[gnu::vector_size(sizeof(Doubles))]] = std::uint64_t;
  // The lowest bits of the sum are e + 1023.
  const auto power =
      reinterpret_cast<Doubles>(reinterpret_cast<Words>(e + 0x1.80000000003ffp52) << 52);
  return e < -1000.0 ? Doubles{} : power;
}

/// Normalizes m to [1, 2).
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

/// e^x in full precision. NaN for NaN and infinity.
[[gnu::always_inline]] inline Scaled scaled_exp(Doubles x) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  constexpr double kRound = 0x1.8p52, kRoundLarge = 0x1p54;  // they round to an integer
  const Doubles y = x * 0x1.71547652b82fep0;
  const auto usual = absolute(y) < 0x1p51;
  const Doubles n = usual ? (y + kRound) - kRound : (y + kRoundLarge) - kRoundLarge;
  // log 2 in two parts, as in fdlibm.
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
                                 1.0};  // inverse factorials
  Doubles p = Doubles{} + 1.0 / 6227020800.0;
  for (const double c : kInverse) p = p * r + c;
  const auto zero = x == -kInfinite;
  return {zero ? Doubles{} : p,
          zero ? Doubles{} + Scaled::kOfZero : (absolute(x) < kInfinite ? n : Doubles{})};
}

}  // namespace dynet::cpu::DYNET_ISA
