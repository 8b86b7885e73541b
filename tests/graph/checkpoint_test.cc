#include "tests/support/prelude.h"

namespace checkpoint_test {

using namespace dynet;

TEST_CASE("revert removes the nodes after the last checkpoint, one checkpoint at a time") {
  ComputationGraph g;
  const Expression a = input(g, {3}, {1, 2, 3});
  g.checkpoint();
  const Expression b = a * 2.0f;
  g.checkpoint();
  const Expression c = b + 1.0f, d = square(c);
  CHECK(g.size() == 4);
  g.revert();
  CHECK(g.size() == 2);
  CHECK(c.is_stale());
  CHECK(d.is_stale());
  CHECK(values(b) == std::vector<float>{2, 4, 6});
  g.revert();
  CHECK(g.size() == 1);
  CHECK(b.is_stale());
  CHECK(values(a) == std::vector<float>{1, 2, 3});
  const auto error = thrown<ArgumentError>([&] { g.revert(); });
  CHECK(error.where().line == __LINE__ - 1);
  CHECK(values(a + 1.0f) == std::vector<float>{2, 3, 4});
}

TEST_CASE("two checkpoints at one place are separate") {
  ComputationGraph g;
  g.checkpoint();
  g.checkpoint();
  input(g, 1.0f);
  g.revert();
  CHECK(g.size() == 0);
  input(g, 1.0f);
  g.revert();
  CHECK(g.size() == 0);
  CHECK_THROWS_AS(g.revert(), ArgumentError);
}

TEST_CASE("clear drops checkpoints") {
  ComputationGraph g;
  input(g, 1.0f);
  g.checkpoint();
  g.clear();
  CHECK(g.size() == 0);
  CHECK_THROWS_AS(g.revert(), ArgumentError);
}

TEST_CASE("values that exist are not computed again after a revert") {
  ComputationGraph g;
  const Expression r = random_uniform(g, {50}, 0.0f, 1.0f);
  const std::vector<float> drawn = values(r);
  for (int k = 0; k < 20; ++k) {
    g.checkpoint();
    const Expression x = dropout(r, 0.5f), y = tanh(x);
    values(y);
    g.revert();
    CHECK(values(r) == drawn);
  }
  CHECK(g.size() == 1);
}

TEST_CASE("revert keeps gradients of nodes before the checkpoint") {
  ComputationGraph g;
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, ParameterInitConst(3.0f));
  const Expression x = parameter(g, p), y = square(x);
  g.checkpoint();
  const Expression loss = sum_elems(y);
  g.backward(loss);
  CHECK(as_vector(y.gradient()) == std::vector<float>{1, 1});
  g.revert();
  CHECK(as_vector(y.gradient()) == std::vector<float>{1, 1});
  CHECK(as_vector(p.gradients()) == std::vector<float>{6, 6});
  const Expression again = sum_elems(y);
  CHECK_THROWS_AS(again.gradient(), GradientError);
  g.backward(again);
  CHECK(as_vector(p.gradients()) == std::vector<float>{12, 12});
}

TEST_CASE("a node made after a revert has its own gradient") {
  ComputationGraph g;
  const Expression x = input(g, 2.0f);
  g.checkpoint();
  const Expression y = square(x);
  g.backward(y, true);
  g.revert();
  const Expression z = cube(x);
  CHECK(z.i == y.i);
  CHECK_THROWS_AS(z.gradient(), GradientError);
  g.backward(z, true);
  CHECK(as_scalar(x.gradient()) == 12);
}

TEST_CASE("the graph uses its memory again after a revert") {
  ComputationGraph g;
  const Expression x = input(g, {1000}, std::vector<float>(1000, 1.0f));
  x.value();
  g.checkpoint();
  const float* const first = tanh(x).value().v;
  g.revert();
  for (int k = 0; k < 1000; ++k) {
    g.checkpoint();
    REQUIRE(tanh(x).value().v == first);
    g.revert();
  }
}

}  // namespace checkpoint_test
