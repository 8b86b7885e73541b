#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace dynet {

/// The nearest number with the first 16 bits of a float, the even one of two; what is too large
/// becomes infinite, and NaN stays NaN.
inline float round_to_bfloat16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = bits + 0x7fffu + (bits >> 16 & 1u);
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return std::bit_cast<float>((is_nan ? bits | 0x400000u : rounded) & 0xffff0000u);
}

/// Of floats that `round_to_bfloat16` has returned, all that there is of them; and back.
inline void pack_bfloat16(const float* from, std::size_t n, std::uint16_t* to) {
  for (std::size_t i = 0; i < n; ++i)
    to[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(from[i]) >> 16);
}
inline void unpack_bfloat16(const std::uint16_t* from, std::size_t n, float* to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = std::bit_cast<float>(std::uint32_t{from[i]} << 16);
}

}  // namespace dynet
