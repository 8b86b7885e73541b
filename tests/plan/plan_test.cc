#include "dynet-like/plan/plan_maker.h"
#include "tests/plan/check_steps.h"
#include "tests/plan/random_graphs.h"
#include "tests/support/prelude.h"

namespace plan_test {

using namespace hand_made;

namespace {

/// Makes a plan, which frees no values, and checks it.
void make_checked(const Graph& g, NodeId begin, NodeId end, PlanPolicy policy, Plan& plan) {
  PlanMaker(policy).make(g, begin, end, plan);
  check_steps(g, begin, end, plan);
  REQUIRE(plan.freed.empty());
}
Plan checked_plan(const Graph& g, NodeId begin, NodeId end,
                  PlanPolicy policy = PlanPolicy::in_batches) {
  Plan plan;
  make_checked(g, begin, end, policy, plan);
  return plan;
}

const OpForm kIn = form("in"), kOther = form("other");

}  // namespace

TEST_CASE("a plan in batches runs together what is alike and does not wait for each other") {
  Graph g;
  const NodeId a = g.add(kIn, {3}), b = g.add(kIn, {3});
  const NodeId c = g.add(kOther, {3}, {a}), d = g.add(kOther, {3}, {b});
  const NodeId e = g.add(kOther, {3}, {c});  // depends on c
  const NodeId f = g.add(kOther, {3}, {a});
  const Plan plan = checked_plan(g, 0, 6);
  CHECK(batches(plan) == std::vector<Nodes>{{a, b}, {c, d, f}, {e}});
  // Nodes before `begin` have values and are not planned.
  CHECK(batches(checked_plan(g, 3, 6)) == std::vector<Nodes>{{d, e, f}});
}

TEST_CASE("nodes that differ in form, shape, batch attribute or shared operand run apart") {
  const OpForm never = form("never", Kind::compute, BatchRule::never("a test"));
  const OpForm shared = form("shared", Kind::compute, BatchRule::products(0));
  Graph g;
  const NodeId x3 = g.add(kIn, {3}), y3 = g.add(kIn, {3}), x4 = g.add(kIn, {4});
  const NodeId batch = g.add(kIn, Dim({3}, 2));
  const auto alike = [&](NodeId a, NodeId b) {
    const bool forward = same_key(g, g.nodes[a], g.nodes[b]);
    CHECK(forward == same_key(g, g.nodes[b], g.nodes[a]));
    checked_plan(g, std::min(a, b), std::max(a, b) + 1);
    return forward;
  };
  const auto pair = [&](const OpForm& f, Dim dim, Nodes p, Attr s, const OpForm& h, Dim e, Nodes q,
                        Attr t) {
    const NodeId a = g.add(f, dim, p, s), b = g.add(h, e, q, t);
    return alike(a, b);
  };
  const Attr one{1, 5}, same_one{1, 6}, two{2, 5};
  CHECK(pair(kOther, {3}, {x3}, one, kOther, {3}, {y3}, one));
  CHECK(pair(kOther, {3}, {x3}, one, kOther, {3}, {y3}, same_one));
  CHECK(pair(kOther, {3}, {x3}, one, kOther, {3, 1}, {y3}, one));
  CHECK_FALSE(pair(kOther, {3}, {x3}, one, kOther, {3}, {y3}, two));
  CHECK_FALSE(pair(kOther, {3}, {x3}, one, kIn, {3}, {y3}, one));
  CHECK_FALSE(pair(kOther, {3}, {x3}, one, kOther, {4}, {y3}, one));
  CHECK_FALSE(pair(kOther, {3}, {x3}, one, kOther, {3}, {x4}, one));
  CHECK_FALSE(pair(kOther, {3}, {x3}, one, kOther, {3}, {batch}, one));
  CHECK_FALSE(pair(kOther, {3}, {x3}, one, kOther, {3}, {x3, x3}, one));
  CHECK_FALSE(pair(kOther, {2, 3}, {x3}, one, kOther, {3, 2}, {x3}, one));
  CHECK_FALSE(pair(kOther, Dim({3}, 2), {x3}, one, kOther, {6}, {x3}, one));
  CHECK_FALSE(pair(never, {3}, {x3}, one, never, {3}, {x3}, one));
  CHECK(pair(shared, {3}, {x3, x3}, one, shared, {3}, {x3, y3}, two));
  CHECK_FALSE(pair(shared, {3}, {x3, x3}, one, shared, {3}, {y3, x3}, one));
}

TEST_CASE("sums of products share every matrix and the operand before the pairs") {
  const OpForm sum = form("sum", Kind::compute, BatchRule::products(1));
  Graph g;
  Nodes a, b;
  for (int k = 0; k < 41; ++k) {
    a.push_back(g.add(kIn, {3}));
    b.push_back(k == 0 || k % 2 == 1 ? a.back() : g.add(kIn, {3}));
  }
  const NodeId x = g.add(sum, {3}, a), y = g.add(sum, {3}, b);
  CHECK(same_key(g, g.nodes[x], g.nodes[y]));
  for (const std::size_t k : {0u, 1u, 39u}) {
    Nodes other = b;
    other[k] = a[2];
    CHECK_FALSE(same_key(g, g.nodes[x], g.nodes[g.add(sum, {3}, other)]));
  }
  const Plan plan = checked_plan(g, 0, y + 1);
  CHECK(batches(plan).back() == Nodes{x, y});
}

TEST_CASE("values are disjoint and in the memory of their device") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Graph g = random_graph_on_two_devices(seed);
    const Plan plan = plan_of(g, 0, size(g));
    std::vector<char> taken(plan.extent);
    for (NodeId id = 0; id < size(g); ++id) {
      CAPTURE(seed, id);
      const std::uint64_t at = plan.value[id], count = g.nodes[id].dim.size();
      if (at == Plan::kNoMemory) continue;
      const std::uint32_t device = g.nodes[id].device_index();
      REQUIRE(at >= plan.block_offset(device));
      REQUIRE(at + count <= plan.block_offset(device) + plan.extent_of(device));
      for (std::uint64_t e = at; e < at + count; ++e) REQUIRE(taken[e]++ == 0);
    }
  }
}

TEST_CASE("products with kOwnMatrix are one step unless many nodes share a matrix") {
  const OpForm product = form("product", Kind::compute, BatchRule::products(0));
  // `of_each` nodes for each matrix, alternating.
  const auto steps = [&](unsigned matrices, unsigned of_each, bool own) {
    Graph g;
    Nodes ws, ys;
    for (unsigned k = 0; k < matrices; ++k) ws.push_back(g.add(kOther, {4, 4}, {g.add(kIn, {4})}));
    const NodeId x = g.add(kIn, {4});
    for (unsigned k = 0; k < matrices * of_each; ++k) {
      ys.push_back(g.add(product, {4}, {ws[k % matrices], x}));
      if (own) g.set_flags(ys.back(), Node::kOwnMatrix);
    }
    const Plan plan = checked_plan(g, 0, ys.back() + 1);
    std::vector<Nodes> found;
    for (Nodes& b : batches(plan))
      if (g.nodes[b[0]].form == &product) {
        for (NodeId& id : b) id -= ys[0];
        found.push_back(b);
      }
    return found;
  };
  CHECK(steps(3, 1, false) == std::vector<Nodes>{{0}, {1}, {2}});
  CHECK(steps(3, 1, true) == std::vector<Nodes>{{0, 1, 2}});
  CHECK(steps(2, 2, true) == std::vector<Nodes>{{0, 1, 2, 3}});
  CHECK(steps(1, 3, true) == std::vector<Nodes>{{0, 1, 2}});
  CHECK(steps(2, 4, true).size() == 1);
  CHECK(steps(2, 5, true) == std::vector<Nodes>{{0, 2, 4, 6, 8}, {1, 3, 5, 7, 9}});
}

TEST_CASE("ops outside recurrences are one batch at any depth") {
  const OpForm sum = form("sum", Kind::compute, BatchRule::products(1));
  const OpForm step = form("step"), loss = form("loss");
  Graph g;
  const NodeId bias = g.add(kIn, {1}), w = g.add(kIn, {4, 4}), u = g.add(kIn, {4, 4});
  for (const unsigned length : {3u, 5u}) {  // h = step(bias + W x + U h), a loss for every h
    NodeId h = g.add(kIn, {5});
    for (unsigned t = 0; t < length; ++t) {
      const NodeId x = g.add(kIn, {4});
      const NodeId s = g.add(sum, {4}, {bias, w, x, u, h});
      h = g.add(step, {5}, {s});
      g.add(loss, {1}, {h});
    }
  }
  const Plan plan = checked_plan(g, 0, size(g));
  std::size_t sums = 0, steps = 0, losses = 0;
  for (const Step& s : plan.steps) {
    const OpForm* f = g.nodes[plan.order[s.first]].form;
    if (f == &sum && !s.accumulates) {
      CHECK(s.count == 8);
      CHECK(s.terms.has(0));
      CHECK(s.terms.has(1));
      CHECK_FALSE(s.terms.has(2));
    }
    if (f == &sum && s.accumulates) {
      ++sums;
      CHECK(s.terms.has(2));
      CHECK_FALSE(s.terms.has(0));
      CHECK_FALSE(s.terms.has(1));
      CHECK(s.count == (sums <= 3 ? 2 : 1));
    }
    steps += f == &step;
    if (f == &loss) {
      ++losses;
      CHECK(s.count == 8);
    }
  }
  CHECK(sums == 5);
  CHECK(steps == 5);
  CHECK(losses == 1);
}

TEST_CASE("sums of products are split before the first product that depends on the recurrence") {
  const OpForm sum = form("sum", Kind::compute, BatchRule::products(1));
  for (unsigned place = 0; place < 3; ++place) {  // position of the recurrent product among three
    CAPTURE(place);
    Graph g;
    const NodeId bias = g.add(kIn, {1}), w = g.add(kIn, {4, 4}), u = g.add(kIn, {4, 4});
    NodeId h = g.add(kIn, {5});
    for (unsigned t = 0; t < 4; ++t) {
      Nodes terms = {bias};
      for (unsigned k = 0; k < 3; ++k) {
        terms.push_back(k == place ? u : w);
        terms.push_back(k == place ? h : g.add(kIn, {4}));
      }
      h = g.add(kOther, {5}, {g.add(sum, {4}, terms)});
    }
    const Plan plan = plan_of(g, 0, size(g));
    check_steps(g, 0, size(g), plan);
    std::size_t earlier = 0, later = 0;
    for (const Step& s : plan.steps) {
      if (g.nodes[plan.order[s.first]].form != &sum) continue;
      earlier += !s.accumulates && !s.terms.all();
      later += s.accumulates || s.terms.all();
      for (std::size_t part = 0; part < 4; ++part)
        if (!s.terms.all()) CHECK(s.terms.has(part) == (s.accumulates == (part > place)));
    }
    CHECK(earlier == (place > 0));
    CHECK(later == 4);
  }
}

TEST_CASE("views and parameters take no memory, scratch comes behind the values") {
  const OpForm parameter = form("parameter", Kind::parameter), alias = form("view", Kind::alias);
  const OpForm lookup = form("lookup", Kind::lookup, BatchRule::each(8), three);
  const OpForm kept = form("kept", Kind::compute, BatchRule::each(8), three);
  Graph g;
  const NodeId p = g.add(parameter, {50}), v = g.add(alias, {5, 10}, {p});
  const NodeId row = g.add(lookup, {50}), rows = g.add(lookup, Dim({50}, 3));
  const NodeId k = g.add(kept, {50}, {v}), k2 = g.add(kept, {50}, {v});
  for (const PlanPolicy policy : {PlanPolicy::in_order, PlanPolicy::in_batches}) {
    const Plan plan = checked_plan(g, 0, 6, policy);
    CHECK(plan.value[p] == Plan::kNoMemory);
    CHECK(plan.value[v] == Plan::kNoMemory);
    CHECK(plan.value[row] == Plan::kNoMemory);
    CHECK(plan.value[rows] != Plan::kNoMemory);
    CHECK(plan.aux[p] == Plan::kNoMemory);
    CHECK(plan.aux[row] != Plan::kNoMemory);
    CHECK(plan.aux[k] != Plan::kNoMemory);
    CHECK(plan.aux[k2] != plan.aux[k]);
    CHECK(plan.extent >= 150 + 50 + 50 + 4 * 3);
    CHECK(plan.extent <= 150 + 50 + 50 + 4 * 3 + 10 * 16);
  }
}

TEST_CASE("more memory than there is an address for is refused") {
  Graph g;
  for (int i = 0; i < 5; ++i) g.add(kIn, {1u << 31, 1u << 26});
  Plan plan;
  CHECK_THROWS_AS(PlanMaker(PlanPolicy::in_order).make(g, 0, 5, plan), OutOfMemoryError);
  CHECK_THROWS_AS(PlanMaker(PlanPolicy::in_batches).make(g, 0, 5, plan), OutOfMemoryError);
  PlanMaker(PlanPolicy::in_order).make(g, 0, 1, plan);
  CHECK(plan.extent == std::uint64_t{1} << 57);
  PlanMaker(PlanPolicy::in_batches).make(g, 0, 2, plan);
  CHECK(plan.extent == std::uint64_t{1} << 58);
}

TEST_CASE("plans of random graphs are valid, and a plan can be made again in place") {
  Plan plan;
  std::size_t fewer = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Graph g = random_graph(seed);
    const NodeId n = size(g), begin = static_cast<NodeId>(seed % n);
    make_checked(g, begin, n, PlanPolicy::in_batches, plan);
    fewer += plan.steps.size() < n - begin;
    const std::vector<Nodes> first = batches(plan);
    make_checked(g, begin, n, PlanPolicy::in_order, plan);
    for (const Step& s : plan.steps) REQUIRE(s.count == 1);
    // Also after a plan of two devices.
    const Graph other = random_graph_on_two_devices(seed);
    PlanMaker(PlanPolicy::in_batches).make(other, 0, size(other), plan);
    PlanMaker(PlanPolicy::in_batches).make(g, begin, n, plan);
    CHECK(batches(plan) == first);
    REQUIRE(plan.extent_of(0) == plan.extent);
  }
  CHECK(fewer > 50);
}

}  // namespace plan_test
