#include "benchmarks/training/least_batches.h"

#include <algorithm>
#include <vector>

#include "tests/plan/random_graphs.h"
#include "tests/support/catch.h"

namespace least_batches_test {

using namespace hand_made;
using bench::least_batches;

namespace {

// The steps that complete nodes, without the earlier terms of sums of products.
std::size_t batches_of(const GraphStore& graph, const Plan& plan) {
  return static_cast<std::size_t>(
      std::count_if(plan.steps.begin(), plan.steps.end(), [&](const Step& s) {
        return graph.nodes[plan.order[s.first]].form->kind == Kind::compute &&
               (s.terms.all() || s.accumulates);
      }));
}

}  // namespace

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
    for (const PlanPolicy policy : {PlanPolicy::in_order, PlanPolicy::in_batches})
      REQUIRE(batches_of(g, plan_of(g, begin, size(g), policy)) >= bound);
  }
}

}  // namespace least_batches_test
