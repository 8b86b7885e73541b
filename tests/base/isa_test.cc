#include "dynet-like/base/isa.h"

#include <set>
#include <string>

#include "dynet-like/dynet.h"
#include "tests/support/catch.h"

namespace isa_test {

using namespace dynet;

TEST_CASE("Kernels are for one of the known instruction sets, and statistics say which") {
  const std::string name = isa_name();
  CHECK(std::set<std::string>{"baseline", "avx2", "avx512", "native"}.count(name) == 1);
  if (const char* const wanted = std::getenv("DYNET_ISA")) CHECK(name == wanted);
  ComputationGraph g;
  CHECK(g.statistics().isa == name);
}

TEST_CASE("A function for each instruction set: the one that this process uses") {
  using F = int (*)();
  const PerIsa<F> each([] { return 0; }, [] { return 1; }, [] { return 2; });
  CHECK(each.here()() == static_cast<int>(isa()));
  const PerIsa<F> one = [] { return 7; };
  CHECK(one.here()() == 7);
}

}  // namespace isa_test
