// Libraries that are opened when they are needed: here those that every Linux has, or none.

#include "kernels/cuda/library.h"

#include "tests/support/prelude.h"

using namespace dynet;
using dynet::cuda::Library;

TEST_CASE("the first library that there is gets opened", "[cuda]") {
  double (*cosine)(double) = nullptr;
  Library("mathematics", {"libnone.so.1", "libm.so.6"}).find(cosine, "cos");
  REQUIRE(cosine);
  CHECK(cosine(0) == 1);
}

TEST_CASE("a library that is not there is an error in one sentence, each time", "[cuda]") {
  const auto open = [] { Library("cuTest, which tests", {"libnone.so.13", "libnone.so.12"}); };
  CHECK_THROWS_AS(open(), DeviceError);
  CHECK_THROWS_WITH(open(),
                    Catch::StartsWith("cuTest, which tests, cannot be loaded: libnone.so.13"));
  void (*f)() = nullptr;
  const Library library("mathematics", {"libm.so.6"});
  CHECK_THROWS_AS(library.find(f, "no_such_function"), DeviceError);
  CHECK(!f);
}
