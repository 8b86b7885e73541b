#include <cmath>
#include <vector>

#include "dynet-like/dynet.h"
#include "tests/support/catch.h"

namespace checkpoint_test {

using namespace dynet;

namespace {

std::vector<float> values(const Expression& e) { return as_vector(e.value()); }

}  // namespace

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
  const unsigned line = __LINE__ + 2;
  try {
    g.revert();
    FAIL("nothing was thrown");
  } catch (const ArgumentError& e) {
    CHECK(e.where().line == line);
  }
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

TEST_CASE("new nodes after a revert get their own values whatever was computed before") {
  // Nodes computed before the checkpoint, and reverted nodes computed after it.
  for (int before = 0; before < 3; ++before)
    for (int after = 0; after < 4; ++after)
      for (const bool batched : {false, true}) {
        CAPTURE(before, after, batched);
        ComputationGraph g(batched);
        std::vector<Expression> kept;
        kept.push_back(input(g, {20}, std::vector<float>(20, 0.5f)));
        for (int k = 0; k < 5; ++k) kept.push_back(kept.back() + 1.0f);
        if (before == 1) kept[2].value();
        if (before == 2) kept[5].value();
        g.checkpoint();
        std::vector<Expression> gone;
        for (int k = 0; k < 6; ++k) gone.push_back(square(kept[k] * static_cast<float>(k + 1)));
        if (after == 1) gone[0].value();
        if (after == 2) gone[3].value();
        if (after == 3) g.backward(sum_elems(sum(gone)), true);
        g.revert();
        std::vector<Expression> fresh;
        for (int k = 0; k < 6; ++k) fresh.push_back(kept[k] * -2.0f);
        for (int k = 0; k < 6; ++k) {
          CHECK(values(fresh[k])[19] == -2.0f * (0.5f + static_cast<float>(k)));
          CHECK(values(kept[k])[0] == 0.5f + static_cast<float>(k));
        }
        const Expression loss = sum_elems(sum(fresh));
        CHECK(as_scalar(loss.value()) == -2.0f * 20 * (6 * 0.5f + 15));
        g.backward(loss, true);
        CHECK(as_vector(kept[0].gradient())[7] == -2.0f * 6);
        CHECK(as_vector(fresh[5].gradient())[0] == 1.0f);
      }
}

TEST_CASE("revert does not recompute values before the checkpoint") {
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

TEST_CASE("a search with checkpoints gets the values of separate graphs") {
  ParameterCollection pc;
  auto w = pc.add_parameters({8, 8});
  ComputationGraph g;
  Expression state = input(g, {8}, std::vector<float>(8, 1.0f));
  const Expression W = parameter(g, w);
  std::vector<float> expected(8, 1.0f);
  for (int step = 0; step < 30; ++step) {
    for (int candidate = 0; candidate < 5; ++candidate) {
      g.checkpoint();
      const Expression next = tanh(W * state + 0.1f * static_cast<float>(candidate));
      ComputationGraph own;
      const Expression alone = tanh(parameter(own, w) * input(own, {8}, expected) +
                                    0.1f * static_cast<float>(candidate));
      REQUIRE(values(next) == values(alone));
      g.revert();
    }
    state = tanh(W * state + 0.1f);
    expected = values(state);
  }
  CHECK(g.size() == 2 + 3 * 30);
}

TEST_CASE("the graph reuses its memory after a revert") {
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
