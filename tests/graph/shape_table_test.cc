// The shape table stores each shape once and does not find dropped shapes.

#include "dynet-like/graph/shape_table.h"

#include "tests/support/prelude.h"

namespace shape_table_test {

using namespace dynet;

TEST_CASE("ShapeTable stores shapes of one representation once") {
  ShapeTable shapes;
  std::vector<const Dim*> found;
  const auto make = [](unsigned i) { return Dim({1 + i % 7, i / 7 % 50, i / 350}, 1 + i % 3); };
  for (unsigned i = 0; i < 10000; ++i) {
    found.push_back(shapes.find(make(i), i % 2 ? found.back() : nullptr));
    REQUIRE(*found.back() == make(i));
  }
  for (unsigned i = 0; i < 10000; ++i) {
    REQUIRE(shapes.find(make(i), nullptr) == found[i]);
    REQUIRE(*found[i] == make(i));  // not moved
  }
  CHECK(shapes.find({3}, nullptr) != shapes.find({3, 1}, nullptr));  // they print differently
  CHECK(shapes.find({3}, nullptr) != shapes.find(Dim({3}, 2), nullptr));
}

TEST_CASE("forget drops all shapes") {
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

TEST_CASE("shapes depend on operands and attributes, not on earlier nodes") {
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

TEST_CASE("graphs of ever new shapes have the right shapes") {
  constexpr unsigned kMany = 6000;
  ComputationGraph g;
  for (unsigned round = 0; round < 4; ++round) {
    g.clear();
    const Expression row = zeros(g, {1, 2});
    std::vector<Expression> all;
    const auto size = [&](unsigned i) { return i + 1 + kMany * round; };
    for (unsigned i = 0; i < kMany; ++i) all.push_back(zeros(g, {size(i)}));
    // The last node first: its shape is at the address of the last shape of the previous round.
    for (unsigned i = kMany; i-- > 0;) REQUIRE((all[i] * row).dim() == Dim({size(i), 2}));
    for (unsigned i = 0; i < kMany; ++i) {
      REQUIRE(all[i].dim() == Dim({size(i)}));
      REQUIRE((all[i] * row).dim() == Dim({size(i), 2}));
    }
  }
}

}  // namespace shape_table_test
