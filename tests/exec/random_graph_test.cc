// One graph in all modes: in order or in batches, in float or double, as a whole or in parts.

#include "tests/exec/random_graph.h"

#include <cmath>
#include <vector>

#include "dynet-like/run/executor.h"
#include "dynet-like/run/grad_check.h"
#include "tests/support/catch.h"

namespace random_graph_test {

using namespace dynet;

namespace {

constexpr unsigned kSizes[] = {2, 3, 4, 5, 16};

struct Outcome {
  std::vector<double> values, gradients;
};

template <class T>
Outcome run(const GraphStore& graph, NodeId loss, PlanPolicy policy) {
  Executor<T> executor(graph, policy);
  executor.forward(loss);
  executor.backward(loss, true);
  Outcome o;
  for (NodeId id = 0; id <= loss; ++id) {
    const std::size_t n = graph.nodes[id].dim.size();
    o.values.insert(o.values.end(), executor.value(id), executor.value(id) + n);
    const T* g = executor.gradient(id);
    o.gradients.insert(o.gradients.end(), g, g + n);
  }
  return o;
}

/// Largest difference, relative for values above one.
double difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::isfinite(a[i]) && std::isfinite(b[i]))) return INFINITY;
    worst = std::max(worst, std::abs(a[i] - b[i]) / (1 + std::abs(a[i])));
  }
  return worst;
}

}  // namespace

TEST_CASE("300 random graphs have the same values and gradients in order and in batches") {
  std::size_t nodes = 0, steps = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const unsigned h = kSizes[seed % 5];
    RandomGraph::Model model(h);
    ComputationGraph g;
    g.set_seed(seed);
    RandomGraph random(g, model, h, seed);
    const Expression loss = random.build();
    const Outcome one = run<double>(g.store(), loss.i, PlanPolicy::in_order);
    const Outcome many = run<double>(g.store(), loss.i, PlanPolicy::in_batches);
    CHECK(difference(one.values, many.values) < 1e-12);
    CHECK(difference(one.gradients, many.gradients) < 1e-11);
    Plan plan;
    PlanMaker(PlanPolicy::in_batches).make(g.store(), 0, loss.i + 1, plan);
    nodes += plan.order.size();
    steps += plan.steps.size();
  }
  CHECK(steps < nodes * 3 / 4);  // there were batches
}

TEST_CASE("random graphs in float have the values of double within rounding") {
  for (std::uint64_t seed = 1000; seed < 1060; ++seed) {
    CAPTURE(seed);
    const unsigned h = kSizes[seed % 5];
    RandomGraph::Model model(h);
    ComputationGraph g;
    g.set_seed(seed);
    RandomGraph random(g, model, h, seed);
    const Expression loss = random.build();
    for (const PlanPolicy policy : {PlanPolicy::in_order, PlanPolicy::in_batches}) {
      const Outcome f = run<float>(g.store(), loss.i, policy);
      const Outcome d = run<double>(g.store(), loss.i, policy);
      CHECK(difference(f.values, d.values) < 1e-3);
    }
  }
}

TEST_CASE("random graphs have the same parameter gradients in all modes of ComputationGraph") {
  for (std::uint64_t seed = 2000; seed < 2100; ++seed) {
    CAPTURE(seed);
    const unsigned h = kSizes[seed % 5];
    RandomGraph::Model model(h);
    std::vector<double> gradients[4], values[4];
    for (int way = 0; way < 4; ++way) {  // in order, in batches, immediate, by single requests
      model.pc.reset_gradient();
      ComputationGraph g(way == 1);
      g.set_seed(seed);
      g.set_immediate_compute(way == 2);
      RandomGraph random(g, model, h, seed);
      const Expression loss = random.build();
      if (way == 3)
        for (const Expression& x : random.vectors()) x.value();
      g.backward(loss);
      values[way].push_back(as_scalar(loss.value()));
      for (const Parameter& p : model.pc.parameters_list())
        for (float x : as_vector(p.gradients())) gradients[way].push_back(x);
      for (unsigned i = 0; i < 7; ++i)
        for (float x : model.table.row_gradient(i)) gradients[way].push_back(x);
    }
    for (int way = 1; way < 4; ++way) {
      CHECK(difference(values[0], values[way]) < 1e-5);
      CHECK(difference(gradients[0], gradients[way]) < 1e-4);
    }
    CHECK(gradients[0] == gradients[2]);
    CHECK(gradients[0] == gradients[3]);
  }
}

TEST_CASE("gradients of random graphs pass the gradient check") {
  int checked = 0;
  for (std::uint64_t seed = 3000; seed < 3040; ++seed) {
    CAPTURE(seed);
    const unsigned h = kSizes[seed % 4];
    RandomGraph::Model model(h);
    ComputationGraph g;
    g.set_seed(seed);
    RandomGraph random(g, model, h, seed);
    const Expression loss = random.build();
    // nobackprop and const_lookup stop gradients on purpose.
    bool whole = true;
    for (const Node& n : g.store().nodes) {
      const std::string name(n.form->name.value);
      whole = whole && name != "nobackprop" && name != "const_lookup";
    }
    if (!whole) continue;
    ++checked;
    GradientCheckOptions options;
    options.max_elements = 30;
    const GradientReport report = check_gradients(loss, options);
    INFO(report);
    CHECK(report.ok(2e-5));
  }
  CHECK(checked >= 5);
}

TEST_CASE("nodes that differ in one attribute never share a batch") {
  ComputationGraph g(true);
  const Expression x = input(g, {3}, {-1, 0.5f, 2});
  const Expression a = elu(x, 1), b = elu(x, 2), c = elu(x, 1);
  const Expression p = pick(x, 0), q = pick(x, 2), r = pick_range(x, 0, 2), s = pick_range(x, 1, 3);
  const Expression k = constant(g, {2}, 1), l = constant(g, {2}, 2);
  const Expression m = x * 2.0f, n = x * 3.0f, o = dropout(x, 0.0f), t = dropout(x, 0.5f);
  const Expression u = softmax(reshape(x, {1, 3}), 0), v = softmax(reshape(x, {1, 3}), 1);
  CHECK(as_vector(a.value())[0] == Approx(std::exp(-1.0) - 1));
  CHECK(as_vector(b.value())[0] == Approx(2 * (std::exp(-1.0) - 1)));
  CHECK(as_vector(c.value()) == as_vector(a.value()));
  CHECK(as_scalar(p.value()) == -1);
  CHECK(as_scalar(q.value()) == 2);
  CHECK(as_vector(r.value()) == std::vector<float>{-1, 0.5f});
  CHECK(as_vector(s.value()) == std::vector<float>{0.5f, 2});
  CHECK(as_vector(k.value()) == std::vector<float>{1, 1});
  CHECK(as_vector(l.value()) == std::vector<float>{2, 2});
  CHECK(as_vector(m.value()) == std::vector<float>{-2, 1, 4});
  CHECK(as_vector(n.value()) == std::vector<float>{-3, 1.5f, 6});
  CHECK(as_vector(o.value()) == as_vector(x.value()));
  CHECK(as_vector(t.value()) != as_vector(x.value()));
  CHECK(as_vector(u.value()) == std::vector<float>{1, 1, 1});
  CHECK(as_vector(v.value())[2] > 0.5f);
}

}  // namespace random_graph_test
