// Requests between backward passes change nothing and return current gradients.

#include <utility>

#include "dynet-like/run/executor.h"
#include "tests/support/prelude.h"

namespace questions_test {

using namespace dynet;

namespace {

/// A loss over all ways to read parameters.
struct Model {
  ParameterCollection pc;
  Parameter w = pc.add_parameters({3, 3}), b = pc.add_parameters({3});
  LookupParameter table = pc.add_lookup_parameters(5, {3}),
                  whole = pc.add_lookup_parameters(2, {3});

  struct Graph {
    Expression w, hidden, loss;
  };
  Graph build(ComputationGraph& g) {
    Graph made;
    made.w = parameter(g, w);
    const Expression x = lookup(g, table, 3), xs = lookup(g, table, std::vector<unsigned>{1, 3, 1});
    made.hidden = tanh(affine_transform({parameter(g, b), made.w, x, made.w, xs}));
    made.loss = sum_batches(sum_elems(square(made.hidden))) + squared_norm(parameter(g, whole));
    return made;
  }
};

}  // namespace

TEST_CASE("the gradient of a parameter's expression is the sum over passes, whatever was asked") {
  Model model;
  ComputationGraph g;
  const Model::Graph made = model.build(g);
  g.backward(made.loss);
  const Floats once = gradient(made.w);
  g.backward(made.loss);
  const Floats twice = gradient(made.w);
  for (std::size_t i = 0; i < once.size(); ++i) CHECK(twice[i] == Approx(2 * once[i]));
  const Floats of_hidden = gradient(made.hidden);
  CHECK(gradient(made.w) == twice);
  CHECK(made.w.gradient().v == model.w.gradients().v);
  CHECK(gradient(made.hidden) == of_hidden);
}

TEST_CASE("a gradient is not recomputed after a change of any collection of the graph") {
  for (const unsigned changed : {0u, 1u, 2u}) {
    ParameterCollection pcs[3];
    std::vector<Parameter> ps;
    ComputationGraph g;
    std::vector<Expression> hidden;
    for (ParameterCollection& pc : pcs) {
      ps.push_back(pc.add_parameters({4}));
      hidden.push_back(tanh(parameter(g, ps.back())));
    }
    const Expression all = cmult(cmult(hidden[0], hidden[1]), hidden[2]), loss = sum_elems(all);
    g.backward(loss);
    SimpleSGDTrainer trainer(pcs[changed]);
    trainer.update();
    CAPTURE(changed);
    CHECK_THROWS_AS(all.gradient(), GradientError);
    CHECK_THROWS_WITH(all.gradient(), Catch::Contains("the parameters have changed"));
    g.backward(loss);
    CHECK(gradient(all) == Floats{1, 1, 1, 1});
  }
}

TEST_CASE("a request that fails does not change the next pass") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, ParameterInitConst(0.0f));
  auto table = pc.add_lookup_parameters(2, {2}, ParameterInitConst(0.0f));
  ComputationGraph g;
  const Expression x = parameter(g, p) + lookup(g, table, 1);
  const Expression y = x + 0.0f, loss = sum_elems(sqrt(y));  // an infinite slope at zero
  g.backward(loss);
  g.set_check_validity(true);
  CHECK_THROWS_AS(y.gradient(), NumericError);
  g.set_check_validity(false);
  pc.reset_gradient();
  p.set_value({1, 4});
  g.invalidate();
  g.backward(loss);
  CHECK(as_vector(p.gradients()) == Floats{0.5f, 0.25f});
  CHECK(table.row_gradient(1) == Floats{0.5f, 0.25f});
  CHECK(gradient(y) == Floats{0.5f, 0.25f});
  CHECK(as_vector(p.gradients()) == Floats{0.5f, 0.25f});
}

TEST_CASE("gradients of frozen tables and of what the loss does not reach are zero in any pass") {
  ParameterCollection pc;
  auto table = pc.add_lookup_parameters(3, {4}, ParameterInitConst(1.0f));
  auto p = pc.add_parameters({4}, ParameterInitConst(2.0f));
  table.set_updated(false);
  ComputationGraph g;
  const Expression row = lookup(g, table, 1), x = parameter(g, p), aside = tanh(x),
                   loss = dot_product(row, x);
  for (const bool full : {false, true, false}) {
    g.backward(loss, full);
    CAPTURE(full);
    for (unsigned i = 0; i < 3; ++i) CHECK(table.row_gradient(i) == Floats(4, 0.0f));
    CHECK(gradient(row) == Floats(4, full ? 2.0f : 0.0f));
    CHECK(gradient(aside) == Floats(4, 0.0f));
  }
}

TEST_CASE("backward adds to the gradient buffer that the graph is set to") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, ParameterInitConst(1.0f));
  auto table = pc.add_lookup_parameters(3, {2}, ParameterInitConst(1.0f));
  const auto buffers = [&] {
    unsigned numbered = 0, of_threads = 0;
    for (const auto& [key, buffer] : p.stored().bank->gradients.in_order())
      ++(GradientBuffers::is_number(key) ? numbered : of_threads);
    return std::pair(numbered, of_threads);
  };
  ComputationGraph g;
  const Expression loss = sum_elems(cmult(parameter(g, p), lookup(g, table, 1)));
  g.set_gradient_buffer(3);
  g.backward(loss);
  CHECK(buffers() == std::pair(1u, 0u));
  g.set_gradient_buffer(4);
  g.backward(loss);
  CHECK(buffers() == std::pair(2u, 0u));
  ComputationGraph other;
  other.backward(sum_elems(parameter(other, p)));
  CHECK(buffers() == std::pair(2u, 1u));
  CHECK(as_vector(p.gradients()) == Floats{3, 3});
  CHECK(table.row_gradient(1) == Floats{2, 2});
}

TEST_CASE("parameters of several collections in one graph get their own gradients") {
  ParameterCollection first, second;
  auto p = first.add_parameters({2}, ParameterInitConst(2.0f)),
       q = second.add_parameters({2}, ParameterInitConst(5.0f));
  auto t = first.add_lookup_parameters(2, {2}, ParameterInitConst(3.0f)),
       u = second.add_lookup_parameters(2, {2}, ParameterInitConst(7.0f));
  ComputationGraph g;
  g.backward(dot_product(parameter(g, p), parameter(g, q)) +
             dot_product(lookup(g, t, 0), lookup(g, u, 1)));
  CHECK(as_vector(p.gradients()) == Floats{5, 5});
  CHECK(as_vector(q.gradients()) == Floats{2, 2});
  CHECK(t.row_gradient(0) == Floats{7, 7});
  CHECK(u.row_gradient(1) == Floats{3, 3});
  CHECK(t.row_gradient(1) == Floats{0, 0});
  CHECK(u.row_gradient(0) == Floats{0, 0});
}

TEST_CASE("an executor in double overwrites its gradients and leaves parameters unchanged") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, ParameterInitConst(3.0f));
  auto table = pc.add_lookup_parameters(2, {2}, ParameterInitConst(5.0f));
  ComputationGraph g;
  const Expression loss = dot_product(parameter(g, p), lookup(g, table, 1));
  Executor<double> run(g.store());
  for (int pass = 0; pass < 3; ++pass) {
    run.backward(loss.i);
    const auto& copies = run.parameters().copies();
    CHECK(copies.at(&p.stored()).gradient == std::vector<double>{5, 5});
    CHECK(copies.at(&table.stored()).gradient == std::vector<double>{0, 0, 3, 3});
  }
  CHECK(pc.gradient_l2_norm() == 0);
}

}  // namespace questions_test
