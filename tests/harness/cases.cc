// Cases that fail, pass or are skipped, for check.py.
#include "tests/support/catch.h"

TEST_CASE("passes") { CHECK(1 + 1 == 2); }

TEST_CASE("fails four times") {
  for (int k = 0; k < 4; ++k) CHECK(k < 0);
}

TEST_CASE("fails seventy-seven times") {
  for (int k = 0; k < 77; ++k) CHECK(k < 0);
}

TEST_CASE("is skipped") { skip("nothing is there"); }

TEST_CASE("is skipped and fails") {
  skip("nothing is there");
  CHECK(1 + 1 == 3);
}
