#include "dynet-like/plan/regions.h"

#include <map>
#include <set>
#include <vector>

#include "tests/plan/check_steps.h"
#include "tests/plan/random_graphs.h"
#include "tests/support/catch.h"

namespace regions_test {

using namespace hand_made;

namespace {

NodeId size(const Graph& g) { return static_cast<NodeId>(g.nodes.size()); }

Plan batched(const Graph& g, NodeId begin = 0) {
  Plan plan;
  Planner(PlanPolicy::in_batches).make(g, begin, size(g), plan);
  return plan;
}

Regions found(const Graph& g, const Plan& plan, unsigned threads) {
  Regions regions;
  RegionFinder().find(g, plan, threads, regions);
  return regions;
}

/// As many chains as heads, `steps` long, each node one large enough to be worth a thread.
struct Chains : Graph {
  explicit Chains(unsigned heads, unsigned steps = 5, unsigned elements = 10'000) {
    for (unsigned h = 0; h < heads; ++h) last.push_back(add(input, {elements}));
    for (unsigned s = 0; s < steps; ++s)
      for (NodeId& id : last) id = add(square, {elements}, {id});
  }
  OpForm input = form("input"), square = form("square");
  std::vector<NodeId> last;
};

/// What must hold for the regions of every plan: no gap, no node with an operand of another thread
/// in its region; and backward no gradient that two threads write.
void check_regions(const Graph& g, const Plan& plan, const Regions& regions, unsigned threads) {
  std::uint32_t next = 0;
  REQUIRE(regions.owner.size() == plan.order.size());
  for (const Region& region : regions.all) {
    REQUIRE(region.first == next);
    REQUIRE(region.end > region.first);
    REQUIRE(region.owners == threads);
    next = region.end;
    std::map<NodeId, unsigned> owner;
    std::map<NodeId, std::set<unsigned>> writers;
    for (std::uint32_t s = region.first; s < region.end; ++s) {
      const Step& step = plan.steps[s];
      for (std::uint32_t i = step.first; i < step.first + step.count; ++i) {
        const NodeId id = plan.order[i];
        const Node& node = g.nodes[id];
        const BatchRule rule = node.form->batch;
        if (node.form->kind == Kind::parameter || node.form->kind == Kind::lookup) continue;
        REQUIRE(regions.owner[i] < threads);
        if (step.accumulates && owner.count(id)) REQUIRE(owner[id] == regions.owner[i]);
        for (std::uint32_t k = 0; k < node.arity; ++k) {
          const NodeId a = g.args[node.first_arg + k];
          if (!step.computes(rule, k)) continue;
          if (rule.shares(k)) {
            REQUIRE(owner.count(a) == 0);  // one kernel call of all threads may read it
            continue;
          }
          if (owner.count(a)) REQUIRE(owner[a] == regions.owner[i]);
          if (g.nodes[a].needs_gradient()) writers[a].insert(regions.owner[i]);
        }
        owner[id] = regions.owner[i];
      }
    }
    if (region.backward)
      for (const auto& [id, all] : writers) {
        REQUIRE(all.size() == 1);
        REQUIRE(g.nodes[id].form->kind != Kind::parameter);
      }
  }
  REQUIRE(next == plan.steps.size());
}

}  // namespace

TEST_CASE("regions: chains that have nothing in common are shared out evenly, whole") {
  const Chains g(4);
  const Plan plan = batched(g);
  const Regions regions = found(g, plan, 2);
  REQUIRE(regions.all.size() == 1);
  const Region& all = regions.all[0];
  CHECK(all.first == 0);
  CHECK(all.end == plan.steps.size());
  CHECK(all.shared_out);
  CHECK(all.backward);
  CHECK(all.owners == 2);
  for (const Step& s : plan.steps)
    for (std::uint32_t i = 0; i < 4; ++i) CHECK(regions.owner[s.first + i] == i / 2);
}

TEST_CASE("regions: a node with operands of two threads ends one") {
  Chains g(2);
  const OpForm join = form("join");
  const NodeId joined = g.add(join, {10'000}, {g.last[0], g.last[1]});
  g.last = {joined, joined};
  const Plan plan = batched(g);
  const Regions regions = found(g, plan, 2);
  REQUIRE(regions.all.size() == 2);
  CHECK(regions.all[0].shared_out);
  CHECK(regions.all[1].first == plan.steps.size() - 1);
  CHECK_FALSE(regions.all[1].shared_out);  // one node is nothing to share
}

TEST_CASE("regions: what is small or uneven stays on one thread") {
  const Chains small(4, 5, 4);
  CHECK_FALSE(found(small, batched(small), 2).all[0].shared_out);
  const Chains single(1);
  CHECK_FALSE(found(single, batched(single), 2).all[0].shared_out);
}

TEST_CASE("regions: two threads do not write one gradient") {
  for (const bool trained : {false, true}) {
    Graph g;
    const OpForm input = form("input"), square = form("square");
    const NodeId x = g.add(input, {10'000});
    if (trained) g.nodes[x].flags |= Node::kNeedsGradient;
    for (int k = 0; k < 4; ++k) g.add(square, {10'000}, {x});
    const Regions regions = found(g, batched(g, 1), 2);
    REQUIRE(regions.all.size() == 1);
    CHECK(regions.all[0].backward == !trained);
    CHECK(regions.all[0].shared_out);  // forward
  }
}

TEST_CASE("regions: a gradient of a parameter is no thread's") {
  Graph g;
  const OpForm parameter = form("parameter", Kind::parameter), square = form("square");
  for (int k = 0; k < 2; ++k) {
    const NodeId p = g.add(parameter, {10'000});
    g.nodes[p].flags |= Node::kNeedsGradient;
    g.add(square, {10'000}, {p});
  }
  const Regions regions = found(g, batched(g), 2);
  REQUIRE(regions.all.size() == 1);
  CHECK_FALSE(regions.all[0].backward);
}

TEST_CASE("regions: random graphs") {
  RegionFinder finder;  // its memory serves all
  Planner planner(PlanPolicy::in_batches);
  Plan plan;
  Regions regions;
  std::size_t cuts = 0, forward_only = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    Graph g = random_graph(seed, static_cast<NodeId>(20 + seed % 200), 12);
    const RandomStream random(seed + 1000);
    for (NodeId id = 0; id < size(g); ++id)
      if (random.bits(id) % 2) g.nodes[id].flags |= Node::kNeedsGradient;
    const NodeId begin = seed % 3 ? 0 : size(g) / 2;
    const unsigned threads = 2 + seed % 3;
    planner.make(g, begin, size(g), plan);
    finder.find(g, plan, threads, regions);
    CAPTURE(seed);
    check_regions(g, plan, regions, threads);
    cuts += regions.all.size() - 1;
    for (const Region& r : regions.all) forward_only += !r.backward;
  }
  CHECK(cuts > 1000);
  CHECK(forward_only > 300);
}

}  // namespace regions_test
