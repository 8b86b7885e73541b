// Settings that change in the middle of a graph.

#include "tests/support/prelude.h"

namespace switches_test {

using namespace dynet;

namespace {

/// A graph large enough that inference frees values.
struct Large {
  ParameterCollection pc;
  Parameter w = pc.add_parameters({64, 64});

  Expression loss(ComputationGraph& g, unsigned steps = 300) const {
    Expression y = input(g, Dim({64}, 200), std::vector<float>(64 * 200, 0.1f));
    for (unsigned i = 0; i < steps; ++i) y = dropout(tanh(parameter(g, w) * y), 0.1f);
    return sum_batches(squared_norm(y));
  }
  /// The gradient of the parameter, which is then reset.
  std::vector<float> gradient() {
    std::vector<float> all = as_vector(w.gradients());
    pc.reset_gradient();
    return all;
  }
};

}  // namespace

TEST_CASE("backward recomputes values after inference was switched off") {
  Large m;
  std::vector<float> expected;
  float value = 0;
  {
    ComputationGraph g;
    g.set_seed(1);
    const Expression loss = m.loss(g);
    value = as_scalar(loss.value());
    g.backward(loss);
    expected = m.gradient();
  }
  REQUIRE(expected[0] != 0.0f);
  {
    ComputationGraph g;
    g.set_seed(1);
    g.set_inference(true);
    const Expression loss = m.loss(g);
    CHECK(as_scalar(loss.value()) == value);
    g.set_inference(false);
    g.backward(loss);
    CHECK(as_scalar(loss.value()) == value);
    CHECK(m.gradient() == expected);
  }
  {  // some nodes in inference, between nodes that are not
    ComputationGraph g;
    g.set_seed(1);
    Expression y = input(g, Dim({64}, 200), std::vector<float>(64 * 200, 0.1f));
    for (unsigned i = 0; i < 300; ++i) {
      if (i % 100 == 0) {
        y.value();
        g.set_inference(i == 100);
      }
      y = dropout(tanh(parameter(g, m.w) * y), 0.1f);
    }
    const Expression loss = sum_batches(squared_norm(y));
    CHECK(as_scalar(loss.value()) == value);
    g.backward(loss);
    CHECK(m.gradient() == expected);
  }
}

TEST_CASE("switching inference without computing anything drops no value") {
  ComputationGraph g;
  const Expression x = input(g, 2.0f), y = x * x;
  CHECK(as_scalar(y.value()) == 4.0f);
  const std::size_t batches = g.statistics().batches;
  g.set_inference(true);
  g.set_inference(false);
  CHECK(g.statistics().batches == batches);
  g.backward(y, true);
  CHECK(as_scalar(x.gradient()) == 4.0f);
  g.set_inference(true);
  CHECK(as_scalar(x.gradient()) == 4.0f);
  CHECK_THROWS_AS(g.backward(y), ArgumentError);
}

TEST_CASE("clear drops the record of freed values") {
  Large m;
  ComputationGraph g;
  g.set_inference(true);
  m.loss(g).value();
  g.clear();
  const Expression x = input(g, 3.0f);
  g.set_inference(false);
  const Expression y = x * x;
  y.value();
  g.backward(y, true);
  CHECK(as_scalar(x.gradient()) == 6.0f);
}

}  // namespace switches_test
