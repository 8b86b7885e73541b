#include "tests/param/plant.h"
#include "tests/support/prelude.h"

namespace collection_test {

using namespace dynet;

TEST_CASE("parameters and collections have full, unique names") {
  ParameterCollection pc;
  CHECK(pc.get_fullname() == "/");
  CHECK(pc.add_parameters({2}, "W").get_fullname() == "/W");
  CHECK(pc.add_parameters({2}, "W").get_fullname() == "/W_1");
  CHECK(pc.add_lookup_parameters(3, {2}, "W").get_fullname() == "/W_2");
  CHECK(pc.add_parameters({2}).get_fullname() == "/_0");
  CHECK(pc.add_parameters({2}).get_fullname() == "/_1");
  auto sub = pc.add_subcollection("lstm");
  auto again = pc.add_subcollection("lstm");
  CHECK(sub.get_fullname() == "/lstm/");
  CHECK(again.get_fullname() == "/lstm_1/");
  CHECK(sub.add_parameters({2}, "W").get_fullname() == "/lstm/W");
  CHECK(again.add_subcollection("in").add_parameters({2}, "W").get_fullname() == "/lstm_1/in/W");
  CHECK_THROWS_AS(pc.add_parameters({2}, "a/b"), ArgumentError);
  CHECK_THROWS_AS(pc.add_parameters({2}, "a_b"), ArgumentError);
  CHECK_THROWS_AS(pc.add_subcollection("a_b"), ArgumentError);
  CHECK_THROWS_AS(pc.add_parameters(Dim({2}, 3)), ShapeError);
}

TEST_CASE("a collection lists what is in it and below it") {
  ParameterCollection pc;
  auto a = pc.add_parameters({2, 3}, "a");
  auto sub = pc.add_subcollection("sub");
  auto b = sub.add_parameters({4}, "b");
  auto e = sub.add_lookup_parameters(10, {5}, "e");
  auto c = pc.add_parameters({1}, "c");

  CHECK(pc.parameters_list() == std::vector<Parameter>{a, b, c});
  CHECK(sub.parameters_list() == std::vector<Parameter>{b});
  CHECK(sub.lookup_parameters_list() == std::vector<LookupParameter>{e});
  CHECK(pc.size() == 4);
  CHECK(pc.parameter_count() == 6 + 4 + 50 + 1);
  CHECK(sub.parameter_count() == 54);
  e.set_updated(false);
  CHECK_FALSE(e.is_updated());
  CHECK(pc.updated_parameter_count() == 11);

  // Handles keep the parameters alive.
  Parameter kept;
  {
    ParameterCollection gone;
    kept = gone.add_parameters({2}, ParameterInitConst(3.0f));
  }
  CHECK(as_vector(kept.values()) == std::vector<float>{3, 3});
}

TEST_CASE("values are set, limited and scaled") {
  ParameterCollection pc;
  auto p = pc.add_parameters({3}, "p");
  p.set_value({-2, 0.5f, 2});
  p.clip_inplace(-1, 1);
  CHECK(as_vector(p.values()) == std::vector<float>{-1, 0.5f, 1});
  p.scale(2);
  CHECK(as_vector(p.values()) == std::vector<float>{-2, 1, 2});
  p.zero();
  CHECK(as_vector(p.values()) == std::vector<float>{0, 0, 0});
  CHECK_THROWS_AS(p.set_value({1, 2}), ArgumentError);

  auto e = pc.add_lookup_parameters(4, {2}, "e");
  e.initialize(3, {7, 8});
  CHECK(as_vector(e.row(3)) == std::vector<float>{7, 8});
  CHECK(as_vector(e.values()[3]) == std::vector<float>{7, 8});
  CHECK(e.size() == 4);
  CHECK_THROWS_AS(e.row(4), IndexError);
  CHECK_THROWS_AS(e.row_gradient(4), IndexError);
  CHECK_THROWS_AS(Parameter().dim(), ArgumentError);
  CHECK_THROWS_AS(LookupParameter().size(), ArgumentError);
}

TEST_CASE("weight decay is inherited unless a collection has its own") {
  ParameterCollection pc(0.1f);
  auto sub = pc.add_subcollection("sub");
  auto own = pc.add_subcollection("own", 0.25f);
  auto none = own.add_subcollection("none", 0.0f);
  CHECK(sub.get_weight_decay_lambda() == 0.1f);
  CHECK(own.add_parameters({1}).weight_decay_lambda() == 0.25f);
  CHECK(none.get_weight_decay_lambda() == 0.0f);
  pc.set_weight_decay_lambda(0.5f);
  CHECK(sub.get_weight_decay_lambda() == 0.5f);
  CHECK(own.get_weight_decay_lambda() == 0.25f);
  CHECK_THROWS_AS(pc.set_weight_decay_lambda(1.0f), ArgumentError);
  CHECK_THROWS_AS(ParameterCollection(2.0f), ArgumentError);
}

TEST_CASE("gradient norm counts what is not frozen") {
  ParameterCollection pc;
  auto a = pc.add_parameters({2}, "a");
  auto sub = pc.add_subcollection("sub");
  auto b = sub.add_parameters({1}, "b");
  auto e = sub.add_lookup_parameters(5, {2}, "e");
  CHECK(pc.gradient_l2_norm() == 0.0f);
  plant(a, {3, 4});
  plant(b, {12});
  plant_row(e, 3, {0, 84});
  CHECK(pc.gradient_l2_norm() == Approx(std::sqrt(25.0 + 144 + 84 * 84)));
  CHECK(sub.gradient_l2_norm() == Approx(std::sqrt(144.0 + 84 * 84)));
  e.set_updated(false);
  CHECK(pc.gradient_l2_norm() == Approx(13.0));
  b.set_updated(false);
  CHECK(pc.gradient_l2_norm() == Approx(5.0));
  CHECK(sub.gradient_l2_norm() == 0.0f);
  pc.reset_gradient();
  CHECK(pc.gradient_l2_norm() == 0.0f);
}

TEST_CASE("gradient norm of any number of values") {
  for (unsigned n = 1; n < 300; ++n) {
    ParameterCollection pc;
    std::vector<float> g(n);
    double expected = 0;
    for (unsigned k = 0; k < n; ++k) {
      g[k] = static_cast<float>(1 + (k * 7 + n) % 13);
      expected += static_cast<double>(g[k]) * g[k];
    }
    plant(pc.add_parameters({n}), g);
    CHECK(pc.gradient_l2_norm() == Approx(std::sqrt(expected)).epsilon(1e-6));
  }
}

TEST_CASE("gradient norm of sizes that float cannot square") {
  for (unsigned n : {1u, 63u, 64u, 4096u, 5000u})
    for (float g : {1e-30f, 1e-20f, 1.0f, 1e20f, 1e30f}) {
      ParameterCollection pc;
      plant(pc.add_parameters({n}), std::vector<float>(n, g));
      CHECK(pc.gradient_l2_norm() == Approx(g * std::sqrt(static_cast<double>(n))).epsilon(1e-5));
    }
  const float inf = std::numeric_limits<float>::infinity();
  for (float bad : {inf, -inf, std::nanf("")})
    for (unsigned at : {0u, 70u, 4999u}) {
      ParameterCollection pc;
      std::vector<float> g(5000, 1.0f);
      g[at] = bad;
      plant(pc.add_parameters({5000}), g);
      CHECK_FALSE(std::isfinite(pc.gradient_l2_norm()));
    }
}

TEST_CASE("a collection may have room for so many numbers, in the whole tree") {
  ParameterCollection pc;
  pc.set_room(10);
  pc.add_parameters({2, 3});
  ParameterCollection below = pc.add_subcollection("below");
  CHECK_THROWS_WITH(below.add_lookup_parameters(5, {1}),
                    Catch::Contains("there is room for 4 numbers more, got 5"));
  CHECK_THROWS_AS(pc.add_parameters({1u << 30}), ArgumentError);
  below.add_lookup_parameters(2, {2});
  CHECK_THROWS_AS(pc.add_parameters({1}), ArgumentError);
}

TEST_CASE("parameters of a collection that skips initialization are 0, in the whole tree") {
  ParameterCollection pc;
  const Parameter before = pc.add_parameters({2}, ParameterInitConst(1));
  ParameterCollection below = pc.add_subcollection("below");
  pc.skip_initialization();
  const Parameter after = below.add_parameters({2}, ParameterInitConst(1));
  const LookupParameter table = pc.add_lookup_parameters(2, {1}, ParameterInitConst(1));
  CHECK(as_vector(before.values()) == std::vector<float>{1, 1});
  CHECK(as_vector(after.values()) == std::vector<float>{0, 0});
  CHECK(as_vector(table.row(1)) == std::vector<float>{0});
}

}  // namespace collection_test
