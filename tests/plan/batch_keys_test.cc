#include "dynet-like/plan/batch_keys.h"

#include <vector>

#include "tests/plan/random_graphs.h"
#include "tests/support/catch.h"

namespace batch_keys_test {

using namespace hand_made;

TEST_CASE("BatchKeys assigns one key to equal nodes, with edges from the keys of all operands") {
  BatchKeys s;
  std::vector<std::uint32_t> first_arg(100);
  std::size_t shared = 0;
  for (std::uint64_t seed = 1000; seed < 1200; ++seed) {
    const Graph g = random_graph(seed);
    const NodeId n = size(g), begin = static_cast<NodeId>(seed % n);
    s.assign(g, begin, n, first_arg.data());
    REQUIRE(s.of.size() == n - begin);
    shared += s.all.size() < n - begin;
    std::vector<std::uint32_t> count(s.all.size());
    for (NodeId a = begin; a < n; ++a) {
      const Node& node = g.nodes[a];
      const std::uint32_t key = s.of[a - begin];
      REQUIRE(first_arg[a - begin] == node.first_arg);
      ++count[key];
      REQUIRE(s.all[key].first <= a);
      for (NodeId b = begin; b < a; ++b)
        REQUIRE((key == s.of[b - begin]) == alike(g, node, g.nodes[b]));
      for (const NodeId operand : g.args_of(node)) {
        if (operand < begin) continue;
        bool found = false;
        for (std::uint32_t e = s.all[key].edge; e != kNoIndex; e = s.edges[e].next)
          found |= s.edges[e].from == s.of[operand - begin];
        REQUIRE(found);
      }
    }
    for (std::size_t k = 0; k < count.size(); ++k) REQUIRE(count[k] == s.all[k].count);
    // Every edge belongs to a node.
    for (const BatchKey& user : s.all)
      for (std::uint32_t e = user.edge; e != kNoIndex; e = s.edges[e].next) {
        bool found = false;
        for (NodeId a = begin; a < n; ++a)
          if (&s.all[s.of[a - begin]] == &user)
            for (const NodeId operand : g.args_of(g.nodes[a]))
              found |= operand >= begin && s.of[operand - begin] == s.edges[e].from;
        REQUIRE(found);
      }
  }
  CHECK(shared > 50);
}

TEST_CASE("BatchKeys separates thousands of keys") {
  const OpForm in = form("in"), other = form("other");
  Graph g;
  constexpr unsigned kCount = 3000;
  for (unsigned round = 0; round < 2; ++round)
    for (unsigned k = 1; k <= kCount; ++k)
      g.add(other, {k}, {g.add(in, {2 * k})}, {1.0 * (k % 7), 0});
  BatchKeys s;
  std::vector<std::uint32_t> first_arg(g.nodes.size());
  for (int again = 0; again < 2; ++again) {
    s.assign(g, 0, size(g), first_arg.data());
    REQUIRE(s.all.size() == 2 * kCount);
    for (const BatchKey& one : s.all) REQUIRE(one.count == 2);
    for (std::size_t k = 0; k < 2 * kCount; ++k) REQUIRE(s.of[k] == s.of[k + 2 * kCount]);
    for (std::size_t k = 1; k < 2 * kCount; k += 2) {
      std::uint32_t e = s.all[s.of[k]].edge;
      REQUIRE(e != kNoIndex);
      for (; e != kNoIndex; e = s.edges[e].next) REQUIRE(s.edges[e].from == s.of[k - 1]);
    }
  }
}

TEST_CASE("BatchKeys separates nodes of one kind by shared operands and long lists by shapes") {
  const OpForm in = form("in"), sum = form("sum", Kind::compute, BatchRule::products(1)),
               product = form("product", Kind::compute, BatchRule::products(0)),
               list = form("list");
  Graph g;
  constexpr NodeId kMatrices = 1000;
  for (NodeId k = 0; k < kMatrices; ++k) g.add(in, {3, 3});
  const NodeId x = g.add(in, {3}), y = g.add(in, {3});
  const NodeId begin = y + 1;
  std::size_t expected = 0;
  for (int time = 0; time < 3; ++time)
    for (NodeId k = 0; k < kMatrices; ++k) {  // alternating matrices
      g.add(sum, {3}, {x, k, time ? x : y});
      g.add(sum, {3}, {x, 0, y, k, time ? x : y});
      g.add(product, {3}, {k, time ? x : y});
    }
  expected += 3 * kMatrices;
  g.add(sum, {3}, {y, 1, x});
  g.add(sum, {3}, {x, 1, y, 1, x});
  expected += 2;
  for (int time = 0; time < 2; ++time)
    for (NodeId k = 0; k < 12; ++k) {  // one operand of another shape, at each position
      std::vector<NodeId> operands(12, time ? x : y);
      operands[k] = 0;
      g.add(list, {3}, operands);
    }
  expected += 12;
  BatchKeys s;
  std::vector<std::uint32_t> first_arg(g.nodes.size());
  const NodeId n = size(g);
  for (int again = 0; again < 2; ++again) {
    s.assign(g, begin, n, first_arg.data());
    REQUIRE(s.all.size() == expected);
    for (const BatchKey& one : s.all)
      for (NodeId id = begin + (again ? 0 : one.first % 97); id < n; id += 97)
        REQUIRE((s.of[id - begin] == s.of[one.first - begin]) ==
                alike(g, g.nodes[id], g.nodes[one.first]));
  }
}

TEST_CASE("BatchKeys separates products of one matrix by the operand before the pairs") {
  const OpForm in = form("in"), sum = form("sum", Kind::compute, BatchRule::products(1));
  Graph g;
  for (int k = 0; k < 200; ++k) g.add(in, {3});
  g.add(in, {3, 3});
  // The ids of these operands are equal modulo the number of guesses.
  for (const NodeId bias : {1u, 65u, 129u, 65u, 1u}) g.add(sum, {3}, {bias, 200, 0});
  BatchKeys s;
  std::vector<std::uint32_t> first_arg(g.nodes.size());
  s.assign(g, 0, size(g), first_arg.data());
  CHECK(std::vector(s.of.begin() + 201, s.of.end()) == std::vector<std::uint32_t>{2, 3, 4, 3, 2});
}

TEST_CASE("BatchKeys has a number of edges that does not grow with the nodes") {
  // Operands alternate between two kinds.
  const OpForm in = form("in"), twice = form("twice"), user = form("user");
  Graph g;
  for (int k = 0; k < 1000; ++k)
    g.add(user, {3}, {g.add(k % 2 ? in : twice, {3}), g.add(k % 2 ? twice : in, {3})});
  BatchKeys s;
  std::vector<std::uint32_t> first_arg(g.nodes.size());
  s.assign(g, 0, size(g), first_arg.data());
  CHECK(s.all.size() == 3);
  CHECK(s.edges.size() == 2);
}

}  // namespace batch_keys_test
