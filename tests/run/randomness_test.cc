#include "tests/support/prelude.h"

namespace randomness_test {

using namespace dynet;

TEST_CASE("random nodes draw once in every forward") {
  for (const bool batched : {false, true}) {
    ComputationGraph g(batched);
    const Expression x = input(g, {200}, std::vector<float>(200, 1.0f));
    const std::vector<Expression> random{
        dropout(x, 0.5f),
        noise(x, 1.0f),
        random_normal(g, {200}),
        random_bernoulli(g, {200}, 0.5f),
        random_uniform(g, {200}, -1.0f, 1.0f),
    };
    for (const Expression& r : random) {
      const Expression user = r * 2.0f;
      const std::vector<float> first = values(r);
      CHECK(values(r) == first);
      CHECK(as_vector(g.incremental_forward(user))[3] == 2 * first[3]);
      CHECK(values(r) == first);
      g.backward(sum_elems(user), true);
      CHECK(values(r) == first);
      g.forward(user);
      const std::vector<float> second = values(r);
      CHECK(second != first);
      CHECK(values(user)[7] == 2 * second[7]);
      g.invalidate();
      CHECK(values(r) != second);
    }
  }
}

TEST_CASE("backward through dropout uses the mask that forward drew") {
  ParameterCollection pc;
  auto p = pc.add_parameters({500}, ParameterInitConst(1.0f));
  ComputationGraph g;
  const Expression y = dropout(parameter(g, p), 0.25f), loss = sum_elems(y);
  for (int round = 0; round < 5; ++round) {
    pc.reset_gradient();
    g.forward(loss);
    const std::vector<float> mask = values(y);
    g.backward(loss);
    CHECK(as_vector(p.gradients()) == mask);
    int zeros = 0;
    for (float m : mask) {
      zeros += m == 0;
      CHECK((m == 0 || m == Approx(1 / 0.75f)));
    }
    CHECK(zeros > 80);
    CHECK(zeros < 170);
  }
}

TEST_CASE("each random node has its own stream") {
  ComputationGraph g;
  g.set_seed(1);
  const Expression a = random_normal(g, {50}), b = random_normal(g, {50});
  CHECK(values(a) != values(b));
  const Expression x = input(g, {50}, std::vector<float>(50, 1.0f));
  CHECK(values(dropout(x, 0.5f)) != values(dropout(x, 0.5f)));
}

TEST_CASE("a cleared graph, seeded, draws as a new one does, however often it ran before") {
  const auto draw = [](ComputationGraph& g, std::uint64_t seed = 5) {
    g.set_seed(seed);
    const Expression x = input(g, {40}, std::vector<float>(40, 1.0f));
    return values(dropout(x, 0.5f));
  };
  ComputationGraph fresh;
  const std::vector<float> expected = draw(fresh);
  ComputationGraph used;
  const Expression x = random_normal(used, {40});
  for (int k = 0; k < 3; ++k) used.forward(x);
  used.clear();
  CHECK(draw(used) == expected);
  used.clear();
  CHECK(draw(used, 6) != expected);
}

TEST_CASE("a node that fails to be made uses no draws") {
  const auto run = [](bool mistakes) {
    ComputationGraph g;
    g.set_seed(5);
    const Expression x = input(g, {8}, std::vector<float>(8, 1.0f));
    std::vector<Expression> all;
    const auto add = [&](auto right, auto wrong) {
      if (mistakes) CHECK_THROWS_AS(wrong(), Error);
      all.push_back(reshape(right(), {8}));
    };
    add([&] { return dropout(x, 0.5f); }, [&] { return dropout(x, 2.0f); });
    add([&] { return noise(x, 1.0f); }, [&] { return noise(x, -1.0f); });
    add([&] { return dropout_dim(x, 0, 0.5f); }, [&] { return dropout_dim(x, 9, 0.5f); });
    add([&] { return block_dropout(x, 0.5f); }, [&] { return block_dropout(x, -1.0f); });
    add([&] { return random_normal(g, {8}); }, [&] { return random_normal(g, {8}, 0, -1); });
    add([&] { return random_uniform(g, {8}, 0, 1); }, [&] { return random_uniform(g, {8}, 1, 0); });
    std::vector<float> values;
    for (const Expression& e : all)
      for (const float f : as_vector(e.value())) values.push_back(f);
    return values;
  };
  CHECK(run(true) == run(false));
}

}  // namespace randomness_test
