#include "dynet-like/base/isa.h"

#include "tests/support/prelude.h"

namespace isa_test {

using namespace dynet;

TEST_CASE("isa_name is a known instruction set and equals GraphStatistics::isa") {
  const std::string name = isa_name();
  CHECK(std::set<std::string>{"baseline", "avx2", "avx512", "native"}.count(name) == 1);
  if (const char* const wanted = std::getenv("DYNET_ISA")) CHECK(name == wanted);
  ComputationGraph g;
  CHECK(g.statistics().isa == name);
}

TEST_CASE("PerIsa::here returns the function of the instruction set in use") {
  using F = int (*)();
  const PerIsa<F> each([] { return 0; }, [] { return 1; }, [] { return 2; });
  CHECK(each.here()() == static_cast<int>(isa()));
  const PerIsa<F> one = [] { return 7; };
  CHECK(one.here()() == 7);
}

}  // namespace isa_test
