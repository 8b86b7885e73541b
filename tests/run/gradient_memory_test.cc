// Gradients of values with many uses, in reused memory: they have the bits of a pass that stores
// all gradients apart.

#include <utility>

#include "tests/support/prelude.h"

namespace gradient_memory_test {

using namespace dynet;

namespace {

using Expressions = std::vector<Expression>;

struct Model {
  ParameterCollection pc;
  Parameter w = pc.add_parameters({5, 5}), u = pc.add_parameters({5, 5}),
            b = pc.add_parameters({5}), v = pc.add_parameters({5}), z = pc.add_parameters({5}),
            gates = pc.add_parameters({20, 5}), bias = pc.add_parameters({20}),
            wide = pc.add_parameters({5, 90});
  Model() { pc.set_seed(7); }
};

/// A program: returns its loss, and nodes whose gradients are requested.
using Build = std::function<Expression(ComputationGraph&, Model&, Expressions& inner)>;

/// An LSTM gate by gate, over a sentence of `n` words.
Expression gate_by_gate(ComputationGraph& g, Model& m, Expressions& inner, std::size_t n) {
  const Expression W = parameter(g, m.w), U = parameter(g, m.u), b = parameter(g, m.b);
  Expression h = parameter(g, m.v), c = tanh(h);
  std::vector<Expression> losses;
  for (std::size_t t = 0; t < n; ++t) {
    const Expression x = h * (0.1f * static_cast<float>(t + 1));
    const Expression sum = affine_transform({b, W, x, U, h}), i = logistic(sum);
    const Expression f = logistic(affine_transform({b, U, x})),
                     o = logistic(affine_transform({b, W, h}));
    const Expression a = tanh(affine_transform({b, U, h, W, x}));
    c = cmult(i, a) + cmult(f, c);
    const Expression y = tanh(c);
    h = cmult(o, y);
    losses.push_back(sum_elems(square(h)));
    for (const Expression& e : {sum, i, f, o, a, c, y, h}) inner.push_back(e);
  }
  return sum(losses);
}

/// Many products of one matrix and one vector in a batch.
Build products(unsigned times) {
  return [times](ComputationGraph& g, Model& m, Expressions& inner) {
    const Expression W = parameter(g, m.w), x = tanh(parameter(g, m.v));
    Expressions losses;
    for (unsigned k = 0; k < times; ++k)
      losses.push_back(sum_elems(W * x * (1.0f + static_cast<float>(k % 7))));
    inner = {x};
    return sum(losses);
  };
}

const std::vector<std::pair<const char*, Build>> kPrograms = {
    {"gate by gate", [](auto& g, auto& m, auto& inner) { return gate_by_gate(g, m, inner, 6); }},
    {"two activations of one value in a batch",
     [](auto& g, auto& m, auto& inner) {
       const Expression x = parameter(g, m.w) * parameter(g, m.v), p = tanh(x), q = tanh(x),
                        r = tanh(x);
       inner = {x, p, q, r};
       return sum_elems(cmult(p, q * 3.0f)) + squared_norm(r);
     }},
    {"a value that is read before its activation, and after",
     [](auto& g, auto& m, auto& inner) {
       const Expression x = parameter(g, m.w) * parameter(g, m.v), before = square(x),
                        y = logistic(x), after = exp(x);
       inner = {x, before, y, after};
       return sum_elems(before) + sum_elems(cmult(y, after));
     }},
    {"activations of parameters, of views and of activations",
     [](auto& g, auto& m, auto& inner) {
       const Expression x = parameter(g, m.v), p = tanh(x), q = reshape(p, {1, 5}), r = logistic(q),
                        s = rectify(tanh(logistic(r))), l = logistic(sum_elems(s));
       inner = {x, p, q, r, s, l};
       return tanh(tanh(l));
     }},
    {"an activation in a batch with one that is not needed",
     [](auto& g, auto& m, auto& inner) {
       const Expression W = parameter(g, m.w), x = parameter(g, m.v);
       const Expression p = tanh(W * x), q = tanh(W * (x * 2.0f)), r = tanh(W * (x * 3.0f));
       inner = {p, q, r};
       return sum_elems(cmult(p, r));
     }},
    {"pairs that are one another's operands",
     [](auto& g, auto& m, auto& inner) {
       Expressions x{parameter(g, m.v) * 1.0f}, losses;
       for (unsigned k = 1; k < 9; ++k) x.push_back(x[0] * (0.3f * static_cast<float>(k) - 1.0f));
       for (unsigned k = 0; k < 8; ++k) losses.push_back(sum_elems(cmult(x[k], x[k + 1])));
       losses.push_back(sum_elems(cmult(x[3], x[3])));
       losses.push_back(sum_elems(cdiv(x[2], x[7])));
       losses.push_back(sum_elems(x[4] - x[4]));
       inner = x;
       return sum(losses);
     }},
    {"2 products of one matrix and one vector", products(2)},
    {"3 products of one matrix and one vector", products(3)},
    {"50 products of one matrix and one vector", products(50)},
    {"300 products of one matrix and one vector", products(300)},
    {"products of one matrix and many nodes of one parameter",
     [](auto& g, auto& m, auto& inner) {
       const Expression W = parameter(g, m.gates), B = parameter(g, m.bias),
                        c = tanh(parameter(g, m.z));
       Expressions losses;
       for (unsigned k = 0; k < 80; ++k) {
         const Expression x = parameter(g, k % 3 ? m.v : m.z);
         losses.push_back(sum_elems(W * x));
         losses.push_back(sum_elems(lstm_step({B, W, x}, {c}).h));
         losses.push_back(linear_cross_entropy({B, W, x}, k % 16));
         inner = {x};
       }
       return sum(losses);
     }},
    {"one vector in several products and operands",
     [](auto& g, auto& m, auto& inner) {
       const Expression W = parameter(g, m.w), U = parameter(g, m.u), B = parameter(g, m.b);
       const Expression x = tanh(parameter(g, m.v));
       Expressions losses;
       for (unsigned k = 0; k < 20; ++k) {
         const Expression y = x * (0.1f * static_cast<float>(k + 1));
         losses.push_back(sum_elems(tanh(affine_transform({B, W, x, U, x}))));
         losses.push_back(sum_elems(tanh(affine_transform({B, W, x, W, y}))));
         losses.push_back(sum_elems(tanh(affine_transform({x, W, y, U, x}))));
       }
       inner = {x};
       return sum(losses);
     }},
    {"a matrix with many columns in all, whose gradient is summed in several steps",
     [](auto& g, auto& m, auto& inner) {
       const Expression W = parameter(g, m.w), x = parameter(g, m.wide) + 0.0f;
       Expression h = x;
       for (unsigned k = 0; k < 8; ++k) h = tanh(W * h + x);  // 90 columns each
       inner = {x};
       return sum_elems(h);
     }},
    {"a batch of matrices, which is not shared as one matrix",
     [](auto& g, auto& m, auto& inner) {
       const Expression scale = input(g, Dim({1}, 3), {1, -2, 3});
       const Expression W = cmult(parameter(g, m.w), scale), x = tanh(parameter(g, m.v));
       Expressions losses;
       for (unsigned k = 0; k < 20; ++k)
         losses.push_back(sum_batches(sum_elems(square(W * (x * static_cast<float>(k + 1))))));
       inner = {x};
       return sum(losses) * 0.001f;
     }},
    {"a computed matrix, whose gradient is complete before its operand's",
     [](auto& g, auto& m, auto& inner) {
       const Expression W = tanh(parameter(g, m.w)), W2 = square(W), x = tanh(parameter(g, m.v));
       Expressions losses;
       Expression h = x;
       for (unsigned k = 0; k < 10; ++k) {
         h = tanh(W * h + x);
         losses.push_back(sum_elems(W2 * h));
         losses.push_back(sum_elems(W * (h * 0.5f)));
       }
       inner = {x};
       return sum(losses) + sum_elems(W);
     }},
    {"nodes of a batch that the loss does not depend on",
     [](auto& g, auto& m, auto& inner) {
       const Expression W = parameter(g, m.w), x = parameter(g, m.v) + 0.0f;
       Expressions losses;
       for (unsigned k = 0; k < 12; ++k) {
         const Expression xk = x * (0.3f * static_cast<float>(k) - 1.0f), y = W * xk,
                          z = max(xk, y), c = cmult(xk, y), e = concatenate({y, z});
         if (k % 3 == 1) losses.push_back(sum_elems(z) + sum_elems(c) + squared_norm(e));
       }
       inner = {x};
       return sum(losses);
     }},
};

/// The gradients of all parameters, and of the inner nodes.
std::vector<Floats> gradients(const Build& build, bool batched, bool full) {
  Model m;
  ComputationGraph g(batched);
  Expressions inner;
  const Expression loss = build(g, m, inner);
  g.backward(loss, full);
  std::vector<Floats> all;
  for (const Parameter& p : m.pc.parameters_list()) all.push_back(as_vector(p.gradients()));
  for (const Expression& e : inner) all.push_back(gradient(e));
  return all;
}

}  // namespace

TEST_CASE("gradients have the same bits in reused memory as in memory of their own") {
  for (const auto& [name, build] : kPrograms)
    for (const bool batched : {false, true}) {
      CAPTURE(name, batched);
      const auto kept = gradients(build, batched, true), reused = gradients(build, batched, false);
      REQUIRE(kept.size() == reused.size());
      for (std::size_t k = 0; k < kept.size(); ++k) {
        CAPTURE(k);
        CHECK(kept[k] == reused[k]);
      }
    }
}

TEST_CASE("gradients of values with many uses are right, in batches as without") {
  for (const auto& [name, build] : kPrograms) {
    CAPTURE(name);
    Model m;
    ComputationGraph g;
    Expressions inner;
    CHECK(check_gradients(build(g, m, inner)).ok(1e-4));
    const auto one = gradients(build, false, true), many = gradients(build, true, true);
    for (std::size_t k = 0; k < one.size(); ++k)
      for (std::size_t i = 0; i < one[k].size(); ++i)
        CHECK(many[k][i] == Approx(one[k][i]).epsilon(1e-4).margin(1e-4));
  }
}

TEST_CASE("the gradient of an activation's operand uses no memory of its own") {
  constexpr unsigned kSize = 4096, kNodes = 32;
  ParameterCollection pc;
  auto p = pc.add_parameters({kSize});
  const auto used = [&](bool full) {
    ComputationGraph g;
    std::vector<Expression> all;
    for (unsigned k = 0; k < kNodes; ++k)
      all.push_back(tanh(logistic(parameter(g, p) + static_cast<float>(k))));
    g.backward(sum_elems(sum(all)), full);
    return g.statistics().gradient_bytes;
  };
  constexpr std::size_t kOneEach = std::size_t{kSize} * kNodes * sizeof(float);
  CHECK(used(true) > 3 * kOneEach);
  CHECK(used(false) < kOneEach + kOneEach / 2);
}

TEST_CASE("the gradient of a pair's operand does not depend on other pairs of the batch") {
  ParameterCollection pc;
  pc.set_seed(3);
  auto p = pc.add_parameters({37}), q = pc.add_parameters({37}), r = pc.add_parameters({37});
  const auto gradient = [&](auto op, bool company, unsigned of) {
    pc.reset_gradient();
    ComputationGraph g;
    const Expression a = parameter(g, p) * 1.5f, b = parameter(g, q) * 0.7f,
                     c = parameter(g, r) * 1.1f;
    const Expression y = op(a, b), z = op(b, c);  // the gradient of b is a sum
    const Expression later = sum_elems(cmult(square(a), square(b)));
    const Expression loss =
        sum_elems(y * 1.3f) + later + (company ? sum_elems(z * 0.0f) : sum_elems(c));
    g.backward(loss);
    return as_vector((of ? b : a).gradient());
  };
  const auto check = [&](auto op) {
    for (const unsigned of : {0u, 1u}) {
      CAPTURE(of);
      CHECK(gradient(op, false, of) == gradient(op, true, of));
    }
  };
  check([](const Expression& x, const Expression& y) { return cmult(x, y); });
  check([](const Expression& x, const Expression& y) { return cdiv(x, y); });
  check([](const Expression& x, const Expression& y) { return x - y; });
}

TEST_CASE("gradients of gates have the same bits whether the previous cell has a gradient or not") {
  for (const unsigned h : {1u, 5u, 16u, 50u}) {
    CAPTURE(h);
    ParameterCollection pc;
    pc.set_seed(5);
    auto gates = pc.add_parameters({4 * h}), cell = pc.add_parameters({h});
    const auto gradient = [&](bool constant) {
      pc.reset_gradient();
      ComputationGraph g;
      const Expression x = parameter(g, gates),
                       before = constant ? const_parameter(g, cell) : parameter(g, cell);
      const Expression y = vanilla_lstm_gates(x), c = vanilla_lstm_c(before, y);
      g.backward(sum_elems(square(vanilla_lstm_h(c, y))));
      return as_vector(gates.gradients());
    };
    CHECK(gradient(true) == gradient(false));
  }
}

}  // namespace gradient_memory_test
