// One operand with many uses: in nodes of a batch, in several operands of one node, as a matrix.

#include "tests/support/prelude.h"

namespace shared_operands_test {

using namespace dynet;

namespace {

void check_close(const Floats& a, const Floats& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).epsilon(1e-4).margin(1e-4));
}

/// Gradients of all parameters and of `x`, unbatched or batched.
template <class Build>
std::vector<Floats> gradients(ParameterCollection& pc, bool batched, bool full, Build build) {
  pc.reset_gradient();
  ComputationGraph g(batched);
  Expression x;
  const Expression loss = build(g, x);
  g.backward(loss, full);
  std::vector<Floats> all{as_vector(x.gradient())};
  for (const Parameter& p : pc.parameters_list()) all.push_back(as_vector(p.gradients()));
  return all;
}

/// Checks gradients unbatched, batched, and by the gradient check.
template <class Build>
void check_batched(ParameterCollection& pc, Build build) {
  {
    ComputationGraph g;
    Expression x;
    CHECK(check_gradients(build(g, x)).ok(1e-4));
  }
  const auto expected = gradients(pc, false, true, build);
  for (const bool full : {true, false}) {
    const auto found = gradients(pc, true, full, build);
    REQUIRE(found.size() == expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) check_close(found[k], expected[k]);
  }
}

}  // namespace

TEST_CASE("gradients are right for many products of one matrix and one vector in a batch") {
  ParameterCollection pc;
  auto w = pc.add_parameters({5, 5}), v = pc.add_parameters({5});
  for (const unsigned times : {2u, 3u, 50u, 300u}) {
    CAPTURE(times);
    check_batched(pc, [&](ComputationGraph& g, Expression& x) {
      const Expression W = parameter(g, w);
      x = tanh(parameter(g, v));
      std::vector<Expression> losses;
      for (unsigned k = 0; k < times; ++k)
        losses.push_back(sum_elems(W * x * (1.0f + static_cast<float>(k % 7))));
      return sum(losses);
    });
  }
}

TEST_CASE("gradients are right for products of one matrix and many nodes of one parameter") {
  ParameterCollection pc;
  const Parameter w = pc.add_parameters({16, 4}), b = pc.add_parameters({16}),
                  start = pc.add_parameters({4}), other = pc.add_parameters({4});
  check_batched(pc, [&](ComputationGraph& g, Expression& x) {
    const Expression W = parameter(g, w), B = parameter(g, b), c = tanh(parameter(g, other));
    std::vector<Expression> losses;
    for (unsigned k = 0; k < 80; ++k) {
      x = parameter(g, k % 3 ? start : other);
      losses.push_back(sum_elems(W * x));
      losses.push_back(sum_elems(lstm_step({B, W, x}, {c}).h));
      losses.push_back(linear_cross_entropy({B, W, x}, k % 16));
    }
    return sum(losses);
  });
}

TEST_CASE("gradients are right for one vector in several products and operands") {
  ParameterCollection pc;
  auto w = pc.add_parameters({4, 4}), u = pc.add_parameters({4, 4}), b = pc.add_parameters({4}),
       v = pc.add_parameters({4});
  check_batched(pc, [&](ComputationGraph& g, Expression& x) {
    const Expression W = parameter(g, w), U = parameter(g, u), B = parameter(g, b);
    x = tanh(parameter(g, v));
    std::vector<Expression> losses;
    for (unsigned k = 0; k < 20; ++k) {
      const Expression y = x * (0.1f * static_cast<float>(k + 1));
      losses.push_back(sum_elems(tanh(affine_transform({B, W, x, U, x}))));
      losses.push_back(sum_elems(tanh(affine_transform({B, W, x, W, y}))));
      losses.push_back(sum_elems(tanh(affine_transform({x, W, y, U, x}))));
    }
    return sum(losses);
  });
}

TEST_CASE("the gradient of a matrix with many columns in all is summed in several steps") {
  ParameterCollection pc;
  auto w = pc.add_parameters({4, 4}), v = pc.add_parameters({4, 90});
  check_batched(pc, [&](ComputationGraph& g, Expression& x) {
    const Expression W = parameter(g, w);
    x = parameter(g, v) + 0.0f;
    Expression h = x;
    for (unsigned k = 0; k < 8; ++k) h = tanh(W * h + x);  // 90 columns each
    return sum_elems(h);
  });
}

TEST_CASE("a batch of matrices is not shared as one matrix") {
  ParameterCollection pc;
  auto w = pc.add_parameters({4, 4}), v = pc.add_parameters({4});
  check_batched(pc, [&](ComputationGraph& g, Expression& x) {
    const Expression scale = input(g, Dim({1}, 3), {1, -2, 3});
    const Expression W = cmult(parameter(g, w), scale);
    x = tanh(parameter(g, v));
    std::vector<Expression> losses;
    for (unsigned k = 0; k < 20; ++k)
      losses.push_back(sum_batches(sum_elems(square(W * (x * static_cast<float>(k + 1))))));
    return sum(losses) * 0.001f;
  });
}

TEST_CASE("the gradient of a computed shared matrix is complete before its operand's") {
  ParameterCollection pc;
  auto w = pc.add_parameters({4, 4}), v = pc.add_parameters({4});
  check_batched(pc, [&](ComputationGraph& g, Expression& x) {
    const Expression W = tanh(parameter(g, w)), W2 = square(W);
    x = tanh(parameter(g, v));
    std::vector<Expression> losses;
    Expression h = x;
    for (unsigned k = 0; k < 10; ++k) {
      h = tanh(W * h + x);
      losses.push_back(sum_elems(W2 * h));
      losses.push_back(sum_elems(W * (h * 0.5f)));
    }
    return sum(losses) + sum_elems(W);
  });
}

TEST_CASE("nodes of a batch that the loss does not depend on add no gradient") {
  ParameterCollection pc;
  auto w = pc.add_parameters({4, 4}), v = pc.add_parameters({4});
  check_batched(pc, [&](ComputationGraph& g, Expression& x) {
    const Expression W = parameter(g, w);
    x = parameter(g, v) + 0.0f;
    std::vector<Expression> losses;
    for (unsigned k = 0; k < 12; ++k) {
      const Expression xk = x * (0.3f * static_cast<float>(k) - 1.0f), y = W * xk, z = max(xk, y),
                       c = cmult(xk, y), e = concatenate({y, z});
      if (k % 3 == 1) losses.push_back(sum_elems(z) + sum_elems(c) + squared_norm(e));
    }
    return sum(losses);
  });
}

}  // namespace shared_operands_test
