// Division by multiplication.

#include "kernels/cuda/division.h"

#include "dynet-like/base/random.h"
#include "tests/support/prelude.h"

using namespace dynet;

TEST_CASE("a number is divided by a multiplication", "[cuda]") {
  const RandomStream random(7);
  std::uint64_t draw = 0, wrong = 0;
  const auto check = [&](std::uint32_t k, std::uint32_t n) {
    const cuda::Quotient at = cuda::Divisor(n)(k);
    wrong += at.by != k / n || at.rest != k % n;
  };
  constexpr std::uint32_t kEnd = std::uint32_t{1} << 31;
  const auto check_around = [&](std::uint32_t n) {
    for (int t = 0; t < 20; ++t) {
      const auto k = static_cast<std::uint32_t>(random.bits(draw++) % kEnd);
      check(k, n);
      check(k / n * n, n);
      check(k / n * n + (n - 1) % (kEnd - k / n * n), n);
    }
    check(0, n);
    check(kEnd - 1, n);
    if (n < kEnd) check(n, n);
    check(n - 1, n);
  };
  for (std::uint32_t n = 1; n < 5000; ++n) check_around(n);
  for (unsigned bit = 1; bit < 31; ++bit)
    for (const int by : {-1, 0, 1})
      check_around(static_cast<std::uint32_t>((std::int64_t{1} << bit) + by));
  check_around(kEnd - 1);
  CHECK(wrong == 0);
}
