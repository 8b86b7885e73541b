// One graph in all modes: in order or in batches, in float or double, as a whole or in parts.

#include "tests/run/random_graph.h"

#include "dynet-like/run/executor.h"
#include "tests/support/prelude.h"

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

TEST_CASE("gradients of random graphs are the slopes of the loss") {
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

}  // namespace random_graph_test
