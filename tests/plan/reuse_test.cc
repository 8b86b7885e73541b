#include <algorithm>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/plan/planner.h"
#include "tests/plan/check_steps.h"
#include "tests/plan/random_graphs.h"
#include "tests/support/catch.h"

namespace reuse_test {

using namespace hand_made;

namespace {

NodeId size(const Graph& g) { return static_cast<NodeId>(g.nodes.size()); }

/// Runs a plan, with the name of the node that wrote it in every element of memory: whatever is
/// read must be there, and so must be at the end what is not freed.
void check_memory(const Graph& g, const Plan& plan) {
  std::vector<std::uint32_t> memory(plan.extent);
  const auto piece = [&](std::uint64_t at, std::uint64_t n) {
    REQUIRE(at + n <= memory.size());
    return std::pair(memory.begin() + static_cast<std::ptrdiff_t>(at),
                     memory.begin() + static_cast<std::ptrdiff_t>(at + n));
  };
  const auto write = [&](std::uint64_t at, std::uint64_t n, std::uint32_t name) {
    const auto [first, last] = piece(at, n);
    std::fill(first, last, name);
  };
  const auto holds = [&](std::uint64_t at, std::uint64_t n, std::uint32_t name) {
    const auto [first, last] = piece(at, n);
    return std::all_of(first, last, [&](std::uint32_t x) { return x == name; });
  };
  const auto value_holds = [&](NodeId id) {
    while (id >= plan.begin && g.nodes[id].form->kind == Kind::alias)
      id = g.args[g.nodes[id].first_arg];
    if (id < plan.begin || plan.value[id - plan.begin] == Plan::kNoMemory) return true;
    return holds(plan.value[id - plan.begin], g.nodes[id].dim.size(), id + 1);
  };
  constexpr std::uint32_t kAux = 1u << 31;
  for (const Step& step : plan.steps) {
    const NodeId* ids = plan.order.data() + step.first;
    for (std::uint32_t k = 0; k < step.count && !step.accumulates; ++k) {
      const NodeId id = ids[k], i = id - plan.begin;
      const Node& n = g.nodes[id];
      const std::size_t aux = n.form->aux.value(g, n);
      REQUIRE((plan.aux[i] == Plan::kNoMemory) == (aux == 0));
      if (plan.value[i] != Plan::kNoMemory) write(plan.value[i], n.dim.size(), id + 1);
      if (aux) write(plan.aux[i], aux, (id + 1) | kAux);
    }
    for (std::uint32_t k = 0; k < step.count; ++k) {
      const Node& n = g.nodes[ids[k]];
      const BatchRule rule = n.form->batch;
      REQUIRE(value_holds(ids[k]));
      const std::uint64_t aux = plan.aux[ids[k] - plan.begin];
      if (aux != Plan::kNoMemory) REQUIRE(holds(aux, n.form->aux.value(g, n), (ids[k] + 1) | kAux));
      for (std::size_t a = 0; a < n.arity; ++a)
        if (step.terms.all() || step.terms.has(rule.term_of(a)))
          REQUIRE(value_holds(g.args[n.first_arg + a]));
    }
  }
  std::vector<bool> used(g.nodes.size());
  for (const Node& n : g.nodes)
    for (const NodeId a : g.args_of(n)) used[a] = true;
  REQUIRE(plan.freed.size() == plan.end - plan.begin);
  for (NodeId id = plan.begin; id < plan.end; ++id) {
    if (!plan.freed[id - plan.begin]) REQUIRE(value_holds(id));
    if (!used[id]) REQUIRE_FALSE(plan.freed[id - plan.begin]);
    if (id + 128 >= plan.end) REQUIRE_FALSE(plan.freed[id - plan.begin]);
  }
  for (NodeId id = plan.end; id < size(g); ++id)
    for (const NodeId a : g.args_of(g.nodes[id]))
      if (a >= plan.begin && a < plan.end) REQUIRE_FALSE(plan.freed[a - plan.begin]);
}

/// An LSTM as the builder makes it, with a layer before it and a loss for every word.
struct Lstm {
  OpForm parameter = form("parameter", Kind::parameter), word = form("word"), layer = form("layer"),
         sum = form("sum", Kind::compute, BatchRule::products(1)), gates = form("gates"),
         cell = form("cell"),
         output = form("output", Kind::compute, BatchRule::each(8),
                       [](const GraphStore&, const Node&n) { return n.dim.size(); }),
         loss = form("loss"), total = form("total");
  Graph g;
  NodeId bias, wx, wh;
  std::vector<NodeId> losses;

  explicit Lstm(AuxRule scratch_of_sums = no_aux) {
    sum.aux = scratch_of_sums;
    bias = g.add(parameter, {1024});
    wx = g.add(parameter, {1024, 128});
    wh = g.add(parameter, {1024, 256});
  }
  void sentence(unsigned length) {
    NodeId h = g.add(word, {256}), c = g.add(word, {256});
    for (unsigned t = 0; t < length; ++t) {
      const NodeId x = g.add(layer, {128}, {g.add(word, {128})});
      const NodeId a = g.add(gates, {1024}, {g.add(sum, {1024}, {bias, wx, x, wh, h})});
      c = g.add(cell, {256}, {c, a});
      h = g.add(output, {256}, {c, a});
      losses.push_back(g.add(loss, {1}, {g.add(layer, {100}, {h})}));
    }
  }
  void end() { g.add(total, {1}, losses); }
  /// Steps of a form, and nodes in the smallest of them.
  std::pair<int, std::uint32_t> steps(const Plan& plan, const OpForm& f) const {
    std::pair<int, std::uint32_t> result{0, ~0u};
    for (const Step& s : plan.steps)
      if (g.nodes[plan.order[s.first]].form == &f && !s.accumulates)
        result = {result.first + 1, std::min(result.second, s.count)};
    return result;
  }
};

}  // namespace

TEST_CASE("what is needed is there, whatever the graph") {
  Plan plan;
  std::size_t freed = 0;
  std::uint64_t extent = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Graph g =
        random_graph(seed, static_cast<NodeId>(seed % 2 ? 1600 : 3 + seed), 1 + 7 * (seed % 9));
    const NodeId begin = seed % 4 == 3 ? 50 : 0, end = seed % 6 == 5 ? size(g) - 30 : size(g);
    Planner(PlanPolicy::with_reuse).make(g, begin, end, plan);
    check_steps(g, begin, end, plan);
    check_memory(g, plan);
    freed += static_cast<std::size_t>(std::count(plan.freed.begin(), plan.freed.end(), true));
    extent += plan.extent;
    Planner(PlanPolicy::in_batches).make(g, begin, end, plan);
    all += plan.extent;
    REQUIRE(plan.freed.empty());
  }
  CHECK(freed > 3000);
  CHECK(extent < all);
}

TEST_CASE("a long recurrent network needs the memory of a short one") {
  Lstm lstm;
  lstm.sentence(2000);
  lstm.end();
  Plan all, plan;
  Planner(PlanPolicy::in_batches).make(lstm.g, 0, size(lstm.g), all);
  Planner(PlanPolicy::with_reuse).make(lstm.g, 0, size(lstm.g), plan);
  check_steps(lstm.g, 0, size(lstm.g), plan);
  check_memory(lstm.g, plan);
  CHECK(plan.extent * 4 < std::uint64_t{1} << 20);
  CHECK(plan.extent * 20 < all.extent);
  // What does not wait is done many at a time all the same.
  const auto [sums, fewest] = lstm.steps(plan, lstm.sum);
  CHECK(sums < 40);
  CHECK(fewest > 10);
  CHECK(lstm.steps(plan, lstm.loss).first < 40);
}

TEST_CASE("a sum that is made in parts keeps its scratch until it is complete") {
  Lstm lstm(three);
  for (int k = 0; k < 3; ++k) lstm.sentence(20);
  lstm.end();
  Plan plan;
  Planner(PlanPolicy::with_reuse).make(lstm.g, 0, size(lstm.g), plan);
  check_memory(lstm.g, plan);
}

TEST_CASE("a group of sentences runs together when memory is used again") {
  Lstm lstm;
  for (int k = 0; k < 16; ++k) lstm.sentence(50);
  lstm.end();
  Plan all, plan;
  Planner(PlanPolicy::in_batches).make(lstm.g, 0, size(lstm.g), all);
  Planner(PlanPolicy::with_reuse).make(lstm.g, 0, size(lstm.g), plan);
  check_steps(lstm.g, 0, size(lstm.g), plan);
  check_memory(lstm.g, plan);
  CHECK(lstm.steps(plan, lstm.cell) == std::pair(50, 16u));
  CHECK(plan.steps.size() < all.steps.size() * 5 / 4);
  CHECK(plan.extent * 3 < all.extent);
}

TEST_CASE("a planner that has cut a graph into windows makes other plans as well") {
  Lstm lstm, other;
  for (int k = 0; k < 16; ++k) lstm.sentence(50);
  for (int k = 0; k < 5; ++k) other.sentence(40);
  Planner planner(PlanPolicy::with_reuse);
  Plan plan, fresh;
  planner.make(lstm.g, 0, size(lstm.g), plan);
  planner.set_policy(PlanPolicy::in_batches);
  planner.make(other.g, 0, size(other.g), plan);
  Planner(PlanPolicy::in_batches).make(other.g, 0, size(other.g), fresh);
  CHECK(batches(plan) == batches(fresh));
}

TEST_CASE("without anything that recurs there is one window, and memory is used again") {
  const OpForm in = form("in"), other = form("other"), last = form("last"),
               view = form("view", Kind::alias);
  Graph g;
  for (int k = 0; k < 300; ++k) {
    const NodeId x = g.add(other, {64}, {g.add(in, {64})});
    g.add(last, {1}, {g.add(view, {8, 8}, {x})});
  }
  Plan all, plan;
  Planner(PlanPolicy::in_batches).make(g, 0, size(g), all);
  Planner(PlanPolicy::with_reuse).make(g, 0, size(g), plan);
  check_steps(g, 0, size(g), plan);
  check_memory(g, plan);
  CHECK(batches(plan) == batches(all));
  CHECK(plan.freed[0]);
  CHECK(plan.freed[1]);
  CHECK(plan.freed[2]);  // with what it is a view of
  CHECK_FALSE(plan.freed[3]);
}

TEST_CASE("a plan of few nodes forgets nothing, one of too large ones is refused") {
  const OpForm in = form("in"), other = form("other");
  Graph g;
  g.add(other, {3}, {g.add(in, {3})});
  Plan plan;
  Planner(PlanPolicy::with_reuse).make(g, 0, 2, plan);
  CHECK(plan.freed.empty());
  for (int i = 0; i < 5; ++i) g.add(in, {1u << 31, 1u << 26});
  CHECK_THROWS_AS(Planner(PlanPolicy::with_reuse).make(g, 0, 7, plan), OutOfMemoryError);
}

}  // namespace reuse_test
