#include "dynet-like/base/random.h"

#include "tests/support/prelude.h"

namespace random_test {

using namespace dynet;

TEST_CASE("random numbers depend on key and position only") {
  const RandomStream a(1), b(1), c(2);
  CHECK(a.bits(5) == b.bits(5));
  CHECK(b.bits(0) == a.bits(0));
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    seen.insert(a.bits(i));
    seen.insert(c.bits(i));
  }
  CHECK(seen.size() == 10'000);
}

TEST_CASE("random numbers are the same on every machine and in every version") {
  CHECK(mix_bits(0) == 0xe220a8397b1dcdafu);  // splitmix64 from state 0
  const RandomStream s(42);
  CHECK(s.bits(0) != s.bits(1));
  static_assert(RandomStream(7).bits(3) == RandomStream(7).bits(3));
}

TEST_CASE("uniform draws fill [0, 1) evenly, exact in float") {
  const RandomStream s(3);
  constexpr int kDraws = 100'000, kBins = 20;
  std::vector<int> bins(kBins);
  double sum = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double u = s.uniform(i);
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    REQUIRE(static_cast<double>(static_cast<float>(u)) == u);
    ++bins[static_cast<std::size_t>(u * kBins)];
    sum += u;
  }
  CHECK(sum / kDraws == Approx(0.5).margin(0.005));
  double chi = 0;
  for (int n : bins) chi += (n - kDraws / kBins) * (n - kDraws / kBins) / (1.0 * kDraws / kBins);
  CHECK(chi < 45);  // 19 degrees of freedom: 43.8 is exceeded once in a thousand
}

TEST_CASE("normal draws have the moments of the normal distribution") {
  const RandomStream s(4);
  constexpr int kDraws = 200'000;
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double x = s.normal(i);
    REQUIRE(std::isfinite(x));
    m1 += x;
    m2 += x * x;
    m3 += x * x * x;
    m4 += x * x * x * x;
  }
  CHECK(m1 / kDraws == Approx(0).margin(0.01));
  CHECK(m2 / kDraws == Approx(1).margin(0.02));
  CHECK(m3 / kDraws == Approx(0).margin(0.04));
  CHECK(m4 / kDraws == Approx(3).margin(0.12));
}

TEST_CASE("streams of neighbouring keys are independent") {
  int equal = 0;
  double product = 0;
  for (std::uint64_t key = 0; key < 200; ++key) {
    const RandomStream a(key), b(key + 1);
    for (std::uint64_t i = 0; i < 100; ++i) {
      equal += a.bits(i) == b.bits(i);
      product += (a.uniform(i) - 0.5) * (b.uniform(i) - 0.5);
    }
  }
  CHECK(equal == 0);
  CHECK(product / 20'000 == Approx(0).margin(0.003));  // 1/12 for equal draws
}

}  // namespace random_test
