#include "benchmarks/training/least_batches.h"

#include <algorithm>
#include <vector>

#include "tests/plan/random_graphs.h"
#include "tests/support/catch.h"

namespace least_batches_test {

using namespace hand_made;
using bench::least_batches;

namespace {

const OpForm kIn = form("in"), kOther = form("other"), kUp = form("up");

NodeId size(const Graph& g) { return static_cast<NodeId>(g.nodes.size()); }

// The steps that complete nodes, without the earlier terms of sums of products.
std::size_t batches_of(const GraphStore& graph, const Plan& plan) {
  return static_cast<std::size_t>(
      std::count_if(plan.steps.begin(), plan.steps.end(), [&](const Step& s) {
        return graph.nodes[plan.order[s.first]].form->kind == Kind::compute &&
               (s.terms.all() || s.accumulates);
      }));
}

}  // namespace

TEST_CASE("the bound is the longest chain of every key") {
  Graph g;
  CHECK(least_batches(g, 0, 0) == 0);
  const NodeId a = g.add(kIn, {3}), b = g.add(kIn, {3});
  CHECK(least_batches(g, 0, size(g)) == 1);
  NodeId x = a;
  for (int k = 0; k < 4; ++k) x = g.add(kOther, {3}, {x});
  CHECK(least_batches(g, 0, size(g)) == 1 + 4);
  x = b;
  for (int k = 0; k < 3; ++k) x = g.add(kOther, {3}, {g.add(kUp, {3}, {x})});
  // in; other: 4 in a row; up: 3, as each waits for the one before, through another key.
  CHECK(least_batches(g, 0, size(g)) == 1 + 4 + 3);
  // Nodes that have run do not count: two chains of other, of 3 and 3, are left.
  CHECK(least_batches(g, 3, size(g)) == 3 + 3);
  g.add(kOther, {4}, {x});  // another key
  CHECK(least_batches(g, 0, size(g)) == 1 + 4 + 3 + 1);
}

TEST_CASE("least_batches counts unbatchable nodes one by one and idle nodes not at all") {
  const OpForm never = form("never", Kind::compute, BatchRule::never("a test"));
  const OpForm parameter = form("parameter", Kind::parameter), view = form("view", Kind::alias);
  const OpForm lookup = form("lookup", Kind::lookup);
  Graph g;
  for (int k = 0; k < 5; ++k) g.add(never, {3});
  CHECK(least_batches(g, 0, size(g)) == 5);
  g.add(view, {3}, {g.add(parameter, {3})});
  g.add(lookup, {3});
  CHECK(least_batches(g, 0, size(g)) == 5);
  Plan plan;
  PlanMaker(PlanPolicy::in_batches).make(g, 0, size(g), plan);
  CHECK(batches_of(g, plan) == 5);
}

TEST_CASE("sums of products that are made in parts count once") {
  const OpForm sum = form("sum", Kind::compute, BatchRule::products(1));
  Graph g;
  const NodeId bias = g.add(kIn, {1}), w = g.add(kIn, {4, 4}), u = g.add(kIn, {4, 4});
  for (const unsigned length : {3u, 5u}) {
    NodeId h = g.add(kIn, {5});
    for (unsigned t = 0; t < length; ++t) {
      const NodeId x = g.add(kIn, {4});
      h = g.add(kOther, {5}, {g.add(sum, {4}, {bias, w, x, u, h})});
    }
  }
  Plan plan;
  PlanMaker(PlanPolicy::in_batches).make(g, 0, size(g), plan);
  CHECK(batches_of(g, plan) == 4 + 5 + 5);
  CHECK(least_batches(g, 0, size(g)) == 4 + 5 + 5);
  CHECK(plan.steps.size() == 4 + 5 + 5 + 1);
}

TEST_CASE("the bound agrees with a search along all ways, and no plan is below it") {
  for (std::uint64_t seed = 300; seed < 400; ++seed) {
    const Graph g = random_graph(seed);
    const NodeId begin = seed % 2 ? 0 : static_cast<NodeId>(seed % size(g));
    std::size_t bound = 0;
    for (NodeId first = begin; first < size(g); ++first) {
      const auto is = [&](NodeId id) { return alike(g, g.nodes[first], g.nodes[id]); };
      if (g.nodes[first].form->kind != Kind::compute) continue;
      if (!g.nodes[first].form->batch.value.batches) {
        ++bound;
        continue;
      }
      bool seen = false;
      for (NodeId id = begin; id < first; ++id) seen |= is(id);
      if (seen) continue;
      std::vector<std::size_t> chain(g.nodes.size());
      for (NodeId id = begin; id < size(g); ++id) {
        for (const NodeId a : g.args_of(g.nodes[id])) chain[id] = std::max(chain[id], chain[a]);
        chain[id] += is(id);
      }
      bound += *std::max_element(chain.begin(), chain.end());
    }
    REQUIRE(least_batches(g, begin, size(g)) == bound);
    Plan plan;
    for (const PlanPolicy policy : {PlanPolicy::in_order, PlanPolicy::in_batches}) {
      PlanMaker(policy).make(g, begin, size(g), plan);
      REQUIRE(batches_of(g, plan) >= bound);
    }
  }
}

}  // namespace least_batches_test
