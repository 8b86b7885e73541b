#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace dynet {

/// Rounds to the nearest float with the last `kCut` bits zero, ties to even. Overflow becomes
/// infinity, NaN remains NaN.
template <unsigned kCut>
float round_off(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = bits + (1u << (kCut - 1)) - 1 + (bits >> kCut & 1u);
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return std::bit_cast<float>((is_nan ? bits | 0x400000u : rounded) >> kCut << kCut);
}
inline float round_to_bfloat16(float x) { return round_off<16>(x); }
/// TF32, the input format of GPU matrix products: the range of float, 10 bits of fraction.
inline float round_to_tf32(float x) { return round_off<13>(x); }

}  // namespace dynet
