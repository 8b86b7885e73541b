// Tables and collections: rows, gradients of both forms and of other threads, names, counts.

#include <fstream>
#include <thread>

#include "tests/param/plant.h"
#include "tests/support/prelude.h"

namespace tables_test {

using namespace dynet;

namespace {

using Floats = std::vector<float>;

std::uint64_t changes(const ParameterHandle& p) { return p.stored().bank->changes.load(); }

}  // namespace

TEST_CASE("the gradient of a row is found in either form, from any thread") {
  ParameterCollection pc;
  auto table = pc.add_lookup_parameters(3, {2});
  CHECK(table.row_gradient(1) == Floats{0, 0});
  plant_row(table, 1, {1, 2});
  plant_row(table, 2, {3, 4});
  CHECK(table.row_gradient(1) == Floats{1, 2});
  CHECK(table.row_gradient(2) == Floats{3, 4});
  plant_whole(table, {10, 20, 30, 40, 50, 60});
  CHECK(table.row_gradient(0) == Floats{10, 20});
  CHECK(table.row_gradient(1) == Floats{31, 42});
  CHECK(table.row_gradient(2) == Floats{53, 64});
  pc.reset_gradient();
  std::thread([&] { plant_row(table, 1, {5, 6}); }).join();
  CHECK(table.row_gradient(1) == Floats{5, 6});
  CHECK_THROWS_AS(table.row_gradient(3), IndexError);
}

TEST_CASE("gradients of tables are scaled in either form, from any thread") {
  ParameterCollection pc;
  auto table = pc.add_lookup_parameters(3, {2}), other = pc.add_lookup_parameters(1, {1});
  auto p = pc.add_parameters({2});
  plant_row(table, 2, {1, 2});
  plant_row(table, 0, {3, 4});
  plant_row(other, 0, {7});
  plant(p, {5, 6});
  table.scale_gradient(10);
  CHECK(table.row_gradient(2) == Floats{10, 20});
  CHECK(table.row_gradient(0) == Floats{30, 40});
  CHECK(other.row_gradient(0) == Floats{7});
  CHECK(as_vector(p.gradients()) == Floats{5, 6});
  pc.reset_gradient();
  table.scale_gradient(2);  // nothing to scale
  plant_whole(table, {1, 2, 3, 4, 5, 6});
  table.scale_gradient(2);
  CHECK(table.row_gradient(2) == Floats{10, 12});
  std::thread([&] {
    pc.reset_gradient();
    plant_row(table, 1, {1, 1});
    plant(p, {1, 2});
  }).join();
  table.scale_gradient(3);
  p.scale_gradient(5);
  CHECK(table.row_gradient(1) == Floats{3, 3});
  CHECK(as_vector(p.gradients()) == Floats{5, 10});
}

TEST_CASE("the norm counts whole tables and rows, and every buffer of a long array") {
  ParameterCollection pc;
  auto table = pc.add_lookup_parameters(2, {2});
  plant_whole(table, {1, 2, 2, 4});
  CHECK(pc.gradient_l2_norm() == 5);
  pc.reset_gradient();
  plant_row(table, 1, {3, 4});
  CHECK(pc.gradient_l2_norm() == 5);
  pc.reset_gradient();
  auto p = pc.add_parameters({10'000});
  for (unsigned i = 0; i < 10'000; i += 37) {  // alone, wherever it is
    Floats g(10'000, 0.0f);
    g[i] = 3;
    pc.reset_gradient();
    plant(p, g);
    REQUIRE(pc.gradient_l2_norm() == 3);
  }
}

TEST_CASE("the gradients of one part of a collection are forgotten alone") {
  ParameterCollection pc;
  auto part = pc.add_subcollection("part"), below = part.add_subcollection("below");
  auto p = pc.add_parameters({1}), q = part.add_parameters({1}), r = below.add_parameters({1});
  auto t = pc.add_lookup_parameters(2, {1}), u = below.add_lookup_parameters(2, {1});
  const auto all = [&] {
    for (const Parameter& each : {p, q, r}) plant(each, {2});
    for (const LookupParameter& each : {t, u}) plant_row(each, 1, {2});
  };
  all();
  part.reset_gradient();
  CHECK(pc.gradient_l2_norm() == Approx(std::sqrt(8.0)));
  CHECK(as_vector(p.gradients()) == Floats{2});
  CHECK(as_vector(q.gradients()) == Floats{0});
  CHECK(t.row_gradient(1) == Floats{2});
  CHECK(u.row_gradient(1) == Floats{0});
  CHECK(part.gradient_l2_norm() == 0);
  pc.reset_gradient();
  CHECK(pc.gradient_l2_norm() == 0);
}

TEST_CASE("whatever changes values says so") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2});
  auto table = pc.add_lookup_parameters(2, {2});
  std::uint64_t last = changes(p);
  const auto check = [&](const char* what) {
    INFO(what);
    CHECK(changes(p) > last);
    last = changes(p);
  };
  p.set_value({1, 2});
  check("set_value");
  p.scale(2);
  check("scale");
  p.clip_inplace(0, 1);
  check("clip_inplace");
  CHECK(as_vector(p.values()) == Floats{1, 1});
  p.set_value({-3, 3});
  p.clip_inplace(-1, 2);
  CHECK(as_vector(p.values()) == Floats{-1, 2});
  last = changes(p);
  p.zero();
  check("zero");
  table.zero();
  check("zero of a table");
  table.scale(2);
  check("scale of a table");
  table.initialize(1, {1, 2});
  check("initialize");
  p.gradients();
  table.row_gradient(0);
  CHECK(changes(p) == last);
}

TEST_CASE("a row takes as many values as it has") {
  ParameterCollection pc;
  auto table = pc.add_lookup_parameters(2, {2}, ParameterInitConst(0.0f));
  CHECK_THROWS_AS(table.initialize(0, {1}), ArgumentError);
  CHECK_THROWS_AS(table.initialize(0, {1, 2, 3}), ArgumentError);
  CHECK_THROWS_AS(table.initialize(2, {1, 2}), IndexError);
  CHECK_THROWS_AS(pc.add_lookup_parameters(2, {1, 1, 1, 1, 1, 1, 2}), ShapeError);
  CHECK(table_values(table) == Floats{0, 0, 0, 0});
  table.initialize(1, {1, 2});
  CHECK(table_values(table) == Floats{0, 0, 1, 2});
}

TEST_CASE("a parameter that could not be made leaves no trace") {
  const auto make = [](bool fail) {
    ParameterCollection pc;
    if (fail) {
      CHECK_THROWS_AS(pc.add_parameters({2, 3}, ParameterInitIdentity(), "w"), ShapeError);
      CHECK_THROWS_AS(pc.add_lookup_parameters(2, {3}, ParameterInitIdentity(), "t"), ShapeError);
      CHECK_THROWS_AS(pc.add_parameters({3}, ParameterInitFromVector(Floats{1}), ""), ShapeError);
    }
    const auto w = pc.add_parameters({2}, "w"), unnamed = pc.add_parameters({2});
    const auto t = pc.add_lookup_parameters(2, {1}, "t");
    CHECK(pc.size() == 3);
    return std::vector<std::string>{w.get_fullname(), unnamed.get_fullname(), t.get_fullname()};
  };
  CHECK(make(true) == make(false));
}

TEST_CASE("parameters without names draw apart, and apart from those of another seed") {
  ParameterCollection pc, again, other;
  other.set_seed(17);
  const Floats first = as_vector(pc.add_parameters({20}).values()),
               second = as_vector(pc.add_parameters({20}).values());
  CHECK(first != second);
  CHECK(as_vector(again.add_parameters({20}).values()) == first);
  CHECK(as_vector(other.add_parameters({20}).values()) != first);
}

TEST_CASE("a scale of zero is no scale") {
  ParameterCollection pc, plain;
  CHECK(as_vector(pc.add_parameters({20}, 0.0f, "p").values()) ==
        as_vector(plain.add_parameters({20}, "p").values()));
  for (const float x : as_vector(pc.add_parameters({50}, 0.25f).values()))
    CHECK(std::abs(x) <= 0.25f);
}

TEST_CASE("initializers at the edges of what they take") {
  ParameterCollection pc;
  for (const float x : as_vector(pc.add_parameters({5}, ParameterInitNormal(2, 0)).values()))
    CHECK(x == 2);
  for (const float x : as_vector(pc.add_parameters({5}, ParameterInitUniform(3, 3)).values()))
    CHECK(x == 3);
  Floats spoiled(9, 7.0f);
  Tensor t{Dim({3, 3}), spoiled.data()};
  ParameterInitIdentity().initialize(t, RandomStream(0));
  CHECK(spoiled == Floats{1, 0, 0, 0, 1, 0, 0, 0, 1});
  const std::string path = "param-tables-test.txt";
  std::ofstream(path) << "1 2 three";
  CHECK_THROWS_WITH(pc.add_parameters({3}, ParameterInitFromFile(path)),
                    Catch::Contains("value 3 is not a number"));
  std::ofstream(path) << "1 2";
  CHECK_THROWS_WITH(pc.add_parameters({3}, ParameterInitFromFile(path)), Catch::Contains("got 2"));
  std::ofstream(path) << "1 2 3 4";
  CHECK_THROWS_WITH(pc.add_parameters({3}, ParameterInitFromFile(path)),
                    Catch::Contains("got more"));
  std::remove(path.c_str());
}

}  // namespace tables_test
