#include "dynet-like/plan/cache.h"

#include <functional>
#include <vector>

#include "tests/plan/random_graphs.h"
#include "tests/support/catch.h"

namespace cache_test {

using namespace hand_made;

namespace {

template <class T>
bool equal(const PodVector<T>& a, const PodVector<T>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

bool same_plan(const Plan& a, const Plan& b) {
  const auto same_step = [](const Step& x, const Step& y) {
    return x.first == y.first && x.count == y.count && x.terms.bits == y.terms.bits &&
           x.accumulates == y.accumulates;
  };
  return a.begin == b.begin && a.end == b.end && a.extent == b.extent &&
         a.steps.size() == b.steps.size() &&
         std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), same_step) &&
         equal(a.order, b.order) && equal(a.value, b.value) && equal(a.aux, b.aux) &&
         equal(a.first_arg, b.first_arg) && equal(a.freed, b.freed);
}

std::size_t as_attribute_says(const GraphStore& graph, const Node& n) {
  return static_cast<std::size_t>(graph.attr<Attr>(n).own);
}

OpForm in_form = form("in"), other = form("other"),
       sum = form("sum", Kind::compute, BatchRule::products(1)),
       scratch = form("scratch", Kind::compute, BatchRule::each(8), as_attribute_says);

const Plan& cached(PlanCache& cache, const Graph& g, NodeId begin, NodeId end) {
  return cache.plan(g, begin, end, maker_of(PlanPolicy::in_batches));
}

/// Twelve nodes; plans cover the last ten.
struct Model {
  Dim outside = {5}, dim = {3};
  const OpForm* last = &other;
  Attr attr = {1, 2}, scratch_attr = {1, 3};
  NodeId matrix = 2, operand = 6;
  std::vector<NodeId> extra = {};
  bool shifted = false;
  unsigned line = 0;

  Graph make() const {
    Graph g;
    g.add(in_form, outside);
    g.add(in_form, {3});
    g.add(in_form, {3, 3}, {}, {7, 0});
    g.add(in_form, {3, 3}, {}, {8, 0});
    g.add(in_form, {3}, {}, {9, 0});
    for (int k = 0; k < 3; ++k) g.add(in_form, dim);
    g.add(sum, {3}, {4, matrix, operand});
    g.add(scratch, {3}, {8, 0}, scratch_attr);
    std::vector<NodeId> operands = {9, 1}, of_last = {10, 1};
    operands.insert(operands.end(), extra.begin(), extra.end());
    if (shifted) {  // the same operands in sequence, in other lists
      operands = {9};
      of_last = {1, 10, 1};
    }
    g.add(*last, {3}, operands, attr);
    g.add(other, {3}, of_last, {1, 0});
    for (NodeOrigin& o : g.origins) o.line = line;
    return g;
  }
};

/// Ten sums of products with two alternating matrices, after four nodes that are their operands.
Graph steps(NodeId first_matrix, NodeId second_matrix, const Dim& matrix = {3, 3}) {
  Graph g;
  g.add(in_form, {3});
  for (int k = 0; k < 3; ++k) g.add(in_form, matrix);
  for (NodeId k = 0; k < 10; ++k) g.add(sum, {3}, {0, k % 2 ? first_matrix : second_matrix, 0});
  return g;
}

/// Whether the plan of the nodes from `begin` on is a hit; checks that it equals a new plan.
bool is_remembered(PlanCache& cache, const Graph& g, NodeId begin) {
  const std::size_t hits = cache.hits();
  const Plan fresh = plan_of(g, begin, size(g));
  REQUIRE(same_plan(cached(cache, g, begin, size(g)), fresh));
  return cache.hits() > hits;
}

}  // namespace

TEST_CASE("a cached plan equals a new plan") {
  PlanCache cache;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Graph g = random_graph(seed);
    const NodeId begin = seed % 3 ? 0 : static_cast<NodeId>(seed % size(g)), end = size(g);
    const Plan fresh = plan_of(g, begin, end);
    const std::size_t hits = cache.hits();
    for (int k = 0; k < 4; ++k) REQUIRE(same_plan(cached(cache, g, begin, end), fresh));
    REQUIRE(cache.hits() - hits == (end - begin < PlanCache::kFewest ? 0 : 2));
    const std::size_t plans = cache.plans(), bytes = cache.bytes();
    const Plan* const known = &cached(cache, g, begin, end);
    REQUIRE(&cached(cache, g, begin, end) == known);
    REQUIRE(cache.plans() == plans);
    REQUIRE(cache.bytes() == bytes);
  }
  CHECK(cache.plans() > 100);
  cache.release();
  CHECK(cache.bytes() == 0);
  CHECK(cache.plans() == 0);
}

TEST_CASE("the cache ignores the position of nodes and the identity of earlier operands") {
  // The nodes from `begin` on, after `by` more nodes and the earlier nodes in reverse.
  const auto moved = [](const Graph& g, NodeId begin, NodeId by) {
    Graph to;
    for (NodeId k = 0; k < by; ++k) to.add(in_form, {3}, std::vector<NodeId>(k % 3, NodeId{0}));
    for (NodeId id = begin; id-- > 0;) to.add(in_form, g.nodes[id].dim);
    for (NodeId id = begin; id < size(g); ++id) {
      std::vector<NodeId> operands;
      for (const NodeId a : g.args_of(g.nodes[id]))
        operands.push_back(by + (a < begin ? begin - 1 - a : a));
      to.add(*g.nodes[id].form, g.nodes[id].dim, operands, g.attr<Attr>(g.nodes[id]));
      to.set_flags(size(to) - 1, g.nodes[id].flags);
    }
    return to;
  };
  std::size_t same = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Graph g = random_graph(seed);
    const NodeId begin = size(g) / 3;
    PlanCache cache;
    for (int k = 0; k < 2; ++k) is_remembered(cache, g, begin);
    if (cache.plans() == 0) continue;
    for (const NodeId by : {NodeId{0}, NodeId{1}, NodeId{50}, NodeId{0}, NodeId{7}}) {
      const Graph there = moved(g, begin, by);
      const bool found = is_remembered(cache, there, begin + by);
      if (seed % 2) REQUIRE(found);  // no kOwnMatrix
      same += found;
    }
    const bool known = is_remembered(cache, g, begin);
    if (seed % 2) REQUIRE(known);
  }
  CHECK(same > 500);
}

TEST_CASE("a random graph that differs in one node from a remembered one has a plan of its own") {
  // The same graph, but for an operand, the shape or the key of one node.
  const auto changed = [](const Graph& g, NodeId begin, const RandomStream& random) {
    const auto at = static_cast<NodeId>(begin + random.bits(0) % (size(g) - begin));
    Graph to;
    for (NodeId id = 0; id < size(g); ++id) {
      const Node& n = g.nodes[id];
      std::vector<NodeId> operands(g.args_of(n).begin(), g.args_of(n).end());
      Dim dim = n.dim;
      Attr attr = g.attr<Attr>(n);
      if (id == at && n.form->kind == Kind::compute) {
        const std::uint64_t what = random.bits(1) % 3;
        if (what == 0 && n.arity > 0)
          operands[random.bits(2) % n.arity] = static_cast<NodeId>(random.bits(3) % id);
        if (what == 1) dim = {dim.size() == 3 ? 4u : 3u};
        if (what == 2) attr.key = 1 - attr.key;
      }
      to.add(*n.form, dim, operands, attr);
      to.set_flags(id, n.flags);
    }
    return to;
  };
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Graph g = random_graph(seed);
    const NodeId begin = size(g) / 3;
    PlanCache cache(1 << 20, 0);  // all at one place
    for (int k = 0; k < 3; ++k) is_remembered(cache, g, begin);
    for (std::uint64_t k = 0; k < 20; ++k) {
      const Graph other = changed(g, begin, RandomStream(1000 * seed + k));
      for (int time = 0; time < 2; ++time) is_remembered(cache, other, begin);
      is_remembered(cache, g, begin);
    }
  }
}

TEST_CASE("a cached plan fits other operands before its nodes, but not one for two") {
  PlanCache cache(1 << 20, 0);
  const auto hits = [&](const Graph& g) { return is_remembered(cache, g, 4); };
  hits(steps(1, 2));
  hits(steps(1, 2));
  CHECK(hits(steps(1, 2)));
  CHECK(hits(steps(2, 1)));
  CHECK(hits(steps(3, 1)));
  CHECK_FALSE(hits(steps(1, 1)));
  CHECK(hits(steps(1, 2, {3, 3, 1})));
  CHECK_FALSE(hits(steps(1, 2, {3, 4})));
  cache.release();
  hits(steps(1, 2));
  hits(steps(3, 2));  // the second request inserts the plan
  CHECK(hits(steps(2, 3)));
}

TEST_CASE("a graph that differs in anything that a planner reads has a plan of its own") {
  const auto hits_after = [](const std::function<void(Model&)>& change, NodeId begin = 2,
                             NodeId end = 12, PlanPolicy policy = PlanPolicy::in_batches) {
    PlanCache cache(1 << 20, 0);  // one hash for all graphs
    const Graph known = Model().make();
    for (int k = 0; k < 3; ++k) cached(cache, known, 2, 12);
    REQUIRE(cache.hits() == 1);
    Model changed;
    change(changed);
    const Graph g = changed.make();
    const Plan& plan = cache.plan(g, begin, end, maker_of(policy));
    const Plan fresh = plan_of(g, begin, end, policy);
    REQUIRE(same_plan(plan, fresh));
    return cache.hits() - 1;
  };
  CHECK(hits_after([](Model&) {}) == 1);
  CHECK(hits_after([](Model& m) { m.line = 3; }) == 1);
  CHECK(hits_after([](Model& m) { m.attr.own = 3; }) == 1);
  CHECK(hits_after([](Model& m) { m.dim = {3, 1}; }) == 1);
  CHECK(hits_after([](Model& m) { m.outside = {5, 1, 1}; }) == 1);

  CHECK(hits_after([](Model& m) { m.dim = {4}; }) == 0);
  CHECK(hits_after([](Model& m) { m.dim = {3, 2}; }) == 0);
  CHECK(hits_after([](Model& m) { m.dim = Dim({3}, 2); }) == 0);
  CHECK(hits_after([](Model& m) { m.outside = {6}; }) == 0);
  CHECK(hits_after([](Model& m) { m.outside = Dim({5}, 2); }) == 0);
  CHECK(hits_after([](Model& m) { m.last = &in_form; }) == 0);
  CHECK(hits_after([](Model& m) { m.attr.key = 2; }) == 0);
  CHECK(hits_after([](Model& m) { m.scratch_attr.own = 4; }) == 0);
  CHECK(hits_after([](Model& m) { m.matrix = 3; }) == 0);
  CHECK(hits_after([](Model& m) { m.operand = 7; }) == 0);
  CHECK(hits_after([](Model& m) { m.extra = {3}; }) == 0);
  CHECK(hits_after([](Model& m) { m.shifted = true; }) == 0);
  CHECK(hits_after([](Model&) {}, 3) == 0);
  CHECK(hits_after([](Model&) {}, 2, 11) == 0);
  CHECK(hits_after([](Model&) {}, 2, 12, PlanPolicy::in_order) == 0);
}

TEST_CASE("the cache misses after NodeKindTable::forget") {
  NodeKindTable table;
  const auto graph = [&](unsigned size) {
    Graph g(table);
    for (NodeId id = 0; id < 12; ++id) g.add(in_form, {size});
    return g;
  };
  PlanCache cache(1 << 20, 0);
  const auto is_known = [&](const Graph& g) { return is_remembered(cache, g, 0); };
  for (int k = 0; k < 3; ++k) CHECK(is_known(graph(3)) == (k == 2));
  table.forget();
  const Graph other = graph(4);
  CHECK(other.kinds[0] == 0);
  CHECK_FALSE(is_known(other));
}

TEST_CASE("the cache compares scratch sizes and the shapes of earlier operands") {
  // `before` nodes, ten more, and one with scratch that uses the ten and the last node before.
  const auto graph = [](NodeId before, double scratch_size, const Dim& last = {3}) {
    Graph g;
    for (NodeId k = 0; k < before; ++k) g.add(in_form, k + 1 < before ? Dim({3}) : last);
    std::vector<NodeId> operands;
    for (NodeId k = 0; k < 10; ++k) operands.push_back(g.add(in_form, {3}));
    operands.push_back(before - 1);
    g.add(scratch, {3}, operands, {0, scratch_size});
    return g;
  };
  PlanCache cache(1 << 20, 0);
  for (int k = 0; k < 3; ++k) CHECK(is_remembered(cache, graph(2, 3), 2) == (k == 2));
  CHECK(is_remembered(cache, graph(5, 3), 5));
  CHECK_FALSE(is_remembered(cache, graph(5, 4), 5));
  CHECK_FALSE(is_remembered(cache, graph(2, 3, {4}), 2));
}

TEST_CASE("the cache distinguishes forms at one address") {
  const auto hits_with = [](const OpForm& now, const OpForm& before = form("first")) {
    PlanCache cache;
    OpForm f = before;
    Model model;
    model.last = &f;
    const Graph g = model.make();
    for (int k = 0; k < 3; ++k) cached(cache, g, 0, 12);
    REQUIRE(cache.hits() == 1);
    f = now;
    const Plan fresh = plan_of(g, 0, 12);
    REQUIRE(same_plan(cached(cache, g, 0, 12), fresh));
    return cache.hits() - 1;
  };
  CHECK(hits_with(form("second")) == 1);
  CHECK(hits_with(form("second", Kind::alias)) == 0);
  CHECK(hits_with(form("second", Kind::compute, BatchRule::each(16))) == 0);
  CHECK(hits_with(form("second", Kind::compute, BatchRule::never("a test"))) == 0);
  CHECK(hits_with(form("second", Kind::compute, BatchRule::products(1))) == 0);
  CHECK(hits_with(form("second", Kind::compute, BatchRule::each(8), three)) == 0);
  OpForm in_place = form("second");
  in_place.reads = Reads::output_in_place;
  CHECK(hits_with(in_place) == 0);
  CHECK(hits_with(form("second", Kind::compute, BatchRule::products(1)),
                  form("first", Kind::compute, BatchRule::products(0))) == 0);
}

TEST_CASE("the cache stores nothing for single uses and stays within its bounds") {
  // Chains of different lengths.
  const auto chain = [](unsigned length) {
    Graph g;
    NodeId x = g.add(in_form, {3});
    for (unsigned k = 0; k < length; ++k) x = g.add(other, {3}, {x, x});
    return g;
  };
  constexpr std::size_t kBytes = 100'000;
  PlanCache cache(kBytes);
  for (unsigned length = 20; length < 220; ++length) cached(cache, chain(length), 0, length + 1);
  CHECK(cache.bytes() == 0);
  for (int round = 0; round < 20; ++round)
    for (unsigned length = 20; length < 220; ++length) {
      cached(cache, chain(length), 0, length + 1);
      REQUIRE(cache.bytes() <= kBytes);
    }
  CHECK(cache.bytes() > kBytes / 2);
  CHECK(cache.plans() > 2);
  // A frequent graph is soon a hit.
  const std::size_t before = cache.hits();
  for (int k = 0; k < 20; ++k) cached(cache, chain(300), 0, 301);
  CHECK(cache.hits() >= before + 10);
}

TEST_CASE("plans that are made as fast as they are found are not kept") {
  PlanCache cache;
  const Graph g = Model().make();
  for (int k = 0; k < 4; ++k) cache.plan(g, 0, 12, maker_of(PlanPolicy::in_order));
  CHECK(cache.plans() == 0);
}

TEST_CASE("a loss behind a graph is remembered, one node behind another is not") {
  // So many nodes, and one of another form behind them.
  const auto graph = [](NodeId nodes, const OpForm& loss, const Attr& attr) {
    Graph g;
    g.add(in_form, {3});
    for (NodeId k = 1; k < nodes; ++k) g.add(other, {3}, {k - 1, 0});
    g.add(loss, {3}, {nodes - 1, 0}, attr);
    return g;
  };
  for (const NodeId nodes : {PlanCache::kMany - 1, PlanCache::kMany}) {
    PlanCache cache(1 << 20, 0);
    const auto hits = [&](const OpForm& loss, const Attr& attr = {}) {
      const Graph g = graph(nodes, loss, attr);
      cached(cache, g, 0, nodes);
      return is_remembered(cache, g, nodes);
    };
    for (int k = 0; k < 2; ++k) CHECK_FALSE(hits(other));
    CHECK(hits(other) == (nodes == PlanCache::kMany));
    for (int k = 0; k < 2; ++k) CHECK_FALSE(hits(scratch, {1, 3}));
    CHECK(hits(scratch, {1, 3}) == (nodes == PlanCache::kMany));
    CHECK_FALSE(hits(scratch, {1, 4}));
    CHECK_FALSE(hits(sum));
  }
}

TEST_CASE("the cache separates large structures that differ in operands without a hash") {
  constexpr NodeId kNodes = 20'000;
  const auto graph = [](NodeId at) {  // one operand differs
    Graph g;
    for (int k = 0; k < 2; ++k) g.add(in_form, {3});
    for (NodeId k = 2; k < kNodes; ++k) g.add(other, {3}, {k - 1, NodeId{k == at}});
    return g;
  };
  PlanCache cache(std::size_t{64} << 20);
  for (NodeId at = 4000; at < 4040; ++at) {
    const Graph g = graph(at);
    for (int k = 0; k < 2; ++k) is_remembered(cache, g, 0);
    CHECK(is_remembered(cache, g, 0));
  }
}

}  // namespace cache_test
