#include "tests/shape/rules.h"

namespace reduction_rules_test {

using namespace dynet;
using namespace dynet::test;
using namespace dynet::shape;

TEST_CASE("shape: dimensions taken away") {
  const Dim x({2, 3, 4}, 5);
  check_written(without(x, 0), x);
  check_written(without(x, 1), Dim({3, 4}, 5));
  check_written(without(x, 1 | 4), Dim({3}, 5));
  check_written(without(x, 7), Dim({1}, 5));
  check_written(without(x, 2 | kBatchBit), Dim({2, 4}));
  check_written(without(Dim({3, 1}), 1), Dim({1}));
  check_written(without(Dim({0, 3}), 2), Dim({0}));
  BROKEN(index, without(x, 8));
  BROKEN(index, without(Dim({2}), 2));
  BROKEN(index, without(x, 1 << 6));

  check_written(ones_at(x, 1 | 4), Dim({1, 3, 1}, 5));
  check_written(ones_at(x, kBatchBit), Dim({2, 3, 4}));
  check_written(ones_at(x, kAllDimensions), Dim({1, 1, 1}, 5));

  CHECK(reduced_elements(x, 0) == 1);
  CHECK(reduced_elements(x, 1 | 4) == 8);
  CHECK(reduced_elements(x, kAllDimensions | kBatchBit) == 120);
  CHECK(reduced_elements(Dim({0, 3}), 2) == 3);
  need_elements(Dim({0, 3}), 2, "mean");
  BROKEN(shape, need_elements(Dim({0, 3}), 1, "mean"));

  CHECK(bit_of(x, 0) == 1);
  CHECK(bit_of(x, 2) == 4);
  BROKEN(index, bit_of(x, 3));
  BROKEN(index, bit_of(x, 7));
}

TEST_CASE("shape: classes and lists for losses") {
  check_written(classes_along(Dim({3, 4}, 2), 0, 1, 4, 2), Dim({4}, 2));
  check_written(classes_along(Dim({3, 4}, 2), 1, 2, 3, 3), Dim({3}, 2));
  check_written(classes_along(Dim({3}), 0, 1, 1, 2), Dim({1}));
  check_written(classes_along(Dim({3, 0}), 0, 1, 0, 0), Dim({0}));
  BROKEN(shape, classes_along(Dim({3, 4, 2}), 0, 1, 4, 0));
  BROKEN(index, classes_along(Dim({3, 4}), 2, 1, 4, 0));
  BROKEN(index, classes_along(Dim({3, 4}), 0, 1, 4, 3));
  BROKEN(argument, classes_along(Dim({3, 4}), 0, 1, 3, 0));
  BROKEN(argument, classes_along(Dim({3, 4}, 3), 0, 2, 4, 0));

  check_written(chosen_elements(Dim({3}, 2), 1, 2), Dim({1}, 2));
  check_written(chosen_elements(Dim({3}, 2), 2, 2), Dim({1}, 2));
  BROKEN(shape, chosen_elements(Dim({3, 2}), 1, 0));
  BROKEN(index, chosen_elements(Dim({3}), 1, 3));
  BROKEN(argument, chosen_elements(Dim({3}, 3), 2, 0));
}

}  // namespace reduction_rules_test
