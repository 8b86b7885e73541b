// Shapes are kept once, however many there are, and none is found that is gone.

#include "dynet-like/graph/shape_table.h"

#include <set>
#include <vector>

#include "dynet-like/dynet.h"
#include "tests/support/catch.h"

namespace shape_table_test {

using namespace dynet;

TEST_CASE("a shape is kept once for all that are written alike") {
  ShapeTable shapes;
  std::vector<const Dim*> found;
  const auto make = [](unsigned i) { return Dim({1 + i % 7, i / 7 % 50, i / 350}, 1 + i % 3); };
  for (unsigned i = 0; i < 10000; ++i) {
    found.push_back(shapes.find(make(i), i % 2 ? found.back() : nullptr));
    REQUIRE(*found.back() == make(i));
  }
  for (unsigned i = 0; i < 10000; ++i) {
    REQUIRE(shapes.find(make(i), nullptr) == found[i]);
    REQUIRE(*found[i] == make(i));  // it has not moved
  }
  CHECK(shapes.find({3}, nullptr) != shapes.find({3, 1}, nullptr));  // print differently
  CHECK(shapes.find({3}, nullptr) != shapes.find(Dim({3}, 2), nullptr));
}

TEST_CASE("shapes are forgotten together") {
  ShapeTable shapes;
  for (unsigned round = 0; round < 2; ++round) {
    std::set<const Dim*> all;
    for (unsigned i = 0; i < 5000; ++i) all.insert(shapes.find({i + 20000 * round}, nullptr));
    CHECK(all.size() == 5000);
    CHECK(shapes.size() == 5000);
    for (unsigned i = 0; i < 5000; ++i)
      REQUIRE(*shapes.find({i + 20000 * round}, nullptr) == Dim({i + 20000 * round}));
    shapes.forget();
    CHECK(shapes.size() == 0);
  }
  CHECK(shapes.find({9}, nullptr)->d[0] == 9);
}

TEST_CASE("shapes follow from operands and attributes, whatever was asked before") {
  ComputationGraph g;
  const Expression x = zeros(g, {3, 4}), b = zeros(g, Dim({3, 4}, 2)), cube = zeros(g, {3, 4, 2});
  for (int time = 0; time < 2; ++time) {
    CHECK(sum_elems(x).dim() == Dim({1}));
    CHECK(transpose(x).dim() == Dim({4, 3}));
    CHECK(sum_dim(x, {0}).dim() == Dim({4}));
    CHECK(sum_dim(x, {1}).dim() == Dim({3}));
    CHECK(pick(x, 1, 0).dim() == Dim({4}));
    CHECK(pick(x, 1, 1).dim() == Dim({3}));
    CHECK_THROWS_AS(pick(x, 3, 0), IndexError);
    CHECK((x * transpose(x)).dim() == Dim({3, 3}));
    CHECK((transpose(x) * x).dim() == Dim({4, 4}));
    CHECK((x + b).dim() == Dim({3, 4}, 2));
    CHECK((x + x).dim() == Dim({3, 4}));
    CHECK(tanh(cube).dim() == Dim({3, 4, 2}));
    CHECK_THROWS_AS(x * x, ShapeError);
    CHECK_THROWS_AS(concatenate({x, transpose(x)}), ShapeError);
  }
}

TEST_CASE("graphs of ever different shapes stay right") {
  constexpr unsigned kMany = 6000;
  ComputationGraph g;
  for (unsigned round = 0; round < 4; ++round) {
    g.clear();
    const Expression row = zeros(g, {1, 2});
    std::vector<Expression> all;
    const auto size = [&](unsigned i) { return i + 1 + kMany * round; };
    for (unsigned i = 0; i < kMany; ++i) all.push_back(zeros(g, {size(i)}));
    // The last first: its shape lies where that of the last round lay.
    for (unsigned i = kMany; i-- > 0;) REQUIRE((all[i] * row).dim() == Dim({size(i), 2}));
    for (unsigned i = 0; i < kMany; ++i) {
      REQUIRE(all[i].dim() == Dim({size(i)}));
      REQUIRE((all[i] * row).dim() == Dim({size(i), 2}));
    }
  }
}

}  // namespace shape_table_test
