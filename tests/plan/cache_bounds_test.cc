// Bounds of the cache of plans: hits, stored plans and evictions.

#include <algorithm>
#include <vector>

#include "dynet-like/plan/cache.h"
#include "tests/plan/hand_made.h"
#include "tests/support/catch.h"

namespace cache_bounds_test {

using namespace hand_made;

namespace {

const OpForm kIn = form("in"), kUp = form("up"), kBoth = form("both");

Graph chain(unsigned length) { return chains(1, length + 1, 3); }

/// Requests the plan of a chain; returns whether it was a hit.
bool ask(PlanCache& cache, unsigned length) {
  const std::size_t hits = cache.hits();
  const Plan& plan = cache.plan(chain(length), 0, length + 1, maker_of(PlanPolicy::in_batches));
  REQUIRE(plan.order.size() == length + 1);
  return cache.hits() > hits;
}

}  // namespace

TEST_CASE("the cache evicts the least recently used plan when hashes collide") {
  PlanCache cache(std::size_t{1} << 20, 0);  // one set, of four entries
  for (unsigned length = 20; length < 24; ++length)
    for (int k = 0; k < 2; ++k) CHECK_FALSE(ask(cache, length));
  CHECK(cache.plans() == 4);
  CHECK(ask(cache, 20));
  for (unsigned length = 30; length < 33; ++length) {
    for (int k = 0; k < 2; ++k) CHECK_FALSE(ask(cache, length));
    CHECK(cache.plans() == 4);
    CHECK(ask(cache, 20));
    CHECK(ask(cache, length));
  }
  for (unsigned length = 21; length < 24; ++length) CHECK_FALSE(ask(cache, length));
}

TEST_CASE("the cache stores neither tiny plans nor plans with very many operands") {
  const auto hits = [](unsigned nodes, NodeId operands) {
    Graph g = chain(nodes - 2);
    g.add(kBoth, {3}, std::vector<NodeId>(operands, NodeId{0}));
    PlanCache cache;
    for (int k = 0; k < 3; ++k) cache.plan(g, 0, nodes, maker_of(PlanPolicy::in_batches));
    return cache.hits();
  };
  CHECK(hits(PlanCache::kFewest, 1) == 1);
  CHECK(hits(PlanCache::kFewest - 1, 1) == 0);
  CHECK(hits(PlanCache::kMost, 1) == 1);
  CHECK(hits(PlanCache::kMost + 1, 1) == 0);
  CHECK(hits(20, PlanCache::kMostOperands - 1) == 1);
  CHECK(hits(20, PlanCache::kMostOperands) == 0);
}

TEST_CASE("the cache frees the bytes of evicted plans") {
  PlanCache cache(std::size_t{1} << 20, 0);
  for (int k = 0; k < 2; ++k) ask(cache, 50);
  const std::size_t one = cache.bytes();
  REQUIRE(one > 0);
  for (unsigned length = 51; length < 80; ++length) {
    for (int k = 0; k < 2; ++k) ask(cache, length);
    REQUIRE(cache.bytes() <= 4 * 2 * one);
    REQUIRE(cache.plans() <= 4);
  }
  cache.release();
  CHECK(cache.plans() == 0);
  CHECK(cache.bytes() == 0);
}

TEST_CASE("the cache evicts the least recently used plan when bytes are short") {
  PlanCache probe;
  for (int k = 0; k < 2; ++k) ask(probe, 100);
  PlanCache cache(probe.bytes() * 7 / 2);  // room for three
  for (unsigned length = 98; length < 101; ++length)
    while (!ask(cache, length)) continue;
  for (int round = 0; round < 3; ++round) {
    CHECK(ask(cache, 98));
    // A new structure is inserted after a few requests.
    for (int k = 0; k < 40 && !ask(cache, 101 + static_cast<unsigned>(round)); ++k)
      CHECK(cache.bytes() <= probe.bytes() * 7 / 2);
    CHECK(ask(cache, 101 + static_cast<unsigned>(round)));
    CHECK(ask(cache, 98));
  }
}

TEST_CASE("the cache does not store a plan larger than its limit") {
  PlanCache cache(100);
  for (int k = 0; k < 60; ++k) {
    CHECK_FALSE(ask(cache, 50));
    REQUIRE(cache.bytes() == 0);
    REQUIRE(cache.plans() == 0);
  }
}

TEST_CASE("a cached plan gets the operand positions of the graph at hand") {
  // Nodes from 2 on are equal; node 1 has one operand or two.
  const auto make = [](bool two) {
    Graph g;
    g.add(kIn, {3});
    if (two)
      g.add(kBoth, {3}, {0, 0});
    else
      g.add(kUp, {3}, {0});
    NodeId x = 1;
    for (int k = 0; k < 10; ++k) x = g.add(kUp, {3}, {x});
    return g;
  };
  PlanCache cache(std::size_t{1} << 20, 0);
  for (int round = 0; round < 4; ++round)
    for (const bool two : {false, true}) {
      const Graph g = make(two);
      const Plan& plan = cache.plan(g, 2, 12, maker_of(PlanPolicy::in_batches));
      for (NodeId id = 2; id < 12; ++id) REQUIRE(plan.first_arg[id - 2] == g.nodes[id].first_arg);
    }
}

}  // namespace cache_bounds_test
