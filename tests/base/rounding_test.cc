#include "dynet-like/base/rounding.h"

#include <bit>

#include "tests/support/prelude.h"

namespace rounding_test {

using namespace dynet;

TEST_CASE("round_to_bfloat16 rounds to the nearest value, ties to even") {
  const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
  const auto from = [](std::uint32_t x) { return std::bit_cast<float>(x); };
  CHECK(round_to_bfloat16(1.0f) == 1.0f);
  CHECK(bits(round_to_bfloat16(-0.0f)) == 0x80000000u);              // the sign of zero is kept
  CHECK(bits(round_to_bfloat16(from(0x3f808000u))) == 0x3f800000u);  // a tie rounds to even
  CHECK(bits(round_to_bfloat16(from(0x3f818000u))) == 0x3f820000u);
  CHECK(bits(round_to_bfloat16(from(0x3f808001u))) == 0x3f810000u);
  CHECK(bits(round_to_bfloat16(from(0x3f807fffu))) == 0x3f800000u);
  CHECK(bits(round_to_bfloat16(from(0xbf80ffffu))) == 0xbf810000u);
  CHECK(std::isinf(round_to_bfloat16(std::numeric_limits<float>::max())));
  CHECK(std::isinf(round_to_bfloat16(-std::numeric_limits<float>::infinity())));
  for (const std::uint32_t nan : {0x7f800001u, 0x7fffffffu, 0xff80ffffu, 0x7fc00000u})
    CHECK(std::isnan(round_to_bfloat16(from(nan))));
  std::vector<float> numbers;
  for (std::uint32_t k = 0; k < 1000; ++k) {
    const float x = from(k * 0x9e3779b1u);
    const float rounded = round_to_bfloat16(x);
    if (std::isnan(x)) continue;
    CHECK(round_to_bfloat16(rounded) == rounded);
    if (std::isnormal(x) && std::isfinite(rounded))
      CHECK(std::abs(rounded - x) <= std::abs(x) / 256);
  }
}

TEST_CASE("round_to_tf32 rounds to ten bits") {
  CHECK(round_to_tf32(1 + 0x1p-10f) == 1 + 0x1p-10f);
  CHECK(round_to_tf32(1 + 0x1p-11f) == 1);  // a tie rounds to even
  CHECK(round_to_tf32(1 + 0x3p-11f) == 1 + 0x1p-9f);
  CHECK(round_to_tf32(-1 - 0x1p-11f - 0x1p-20f) == -1 - 0x1p-10f);
  CHECK(std::isinf(round_to_tf32(std::numeric_limits<float>::max())));
  CHECK(std::isnan(round_to_tf32(std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace rounding_test
