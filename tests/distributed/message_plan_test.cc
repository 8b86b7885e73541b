#include "dynet-like/distributed/message_plan.h"

#include <bit>

#include "tests/support/prelude.h"

namespace message_plan_test {

using namespace dynet;

namespace {

// Sum of one element as a text: the lanes that were added, each addition as a pair of brackets. Two
// sums have the same bits only if their texts are equal.
using Sum = std::optional<std::string>;

struct Process {
  std::map<LaneNode, std::vector<Sum>> nodes;
};

std::string bracketed(const LaneTree& tree, LaneNode n) {
  if (n.level == 0) return std::to_string(n.index);
  const std::string left = bracketed(tree, n.left());
  return tree.adds(n) ? "(" + left + "+" + bracketed(tree, n.right()) + ")" : left;
}

// A node with one child is that child.
LaneNode with_own_sum(const LaneTree& tree, LaneNode n) {
  while (n.level > 0 && !tree.adds(n)) n = n.left();
  return n;
}

struct Simulation {
  unsigned lanes, world;
  std::size_t numbers;
  LaneTree tree{lanes};
  MessagePlan plan = plan_messages(lanes, world, numbers);
  std::vector<Process> processes = std::vector<Process>(world);
  std::map<LaneNode, std::size_t> additions = {};
  std::vector<std::size_t> sent = std::vector<std::size_t>(world), received = sent, messages = sent,
                           reduced = sent;

  std::vector<Sum>& at(unsigned rank, LaneNode n) {
    auto& v = processes[rank].nodes[with_own_sum(tree, n)];
    v.resize(numbers);
    return v;
  }

  void begin() {
    for (unsigned r = 0; r < world; ++r)
      for (const LaneNode n : tree.cover(lanes_of_rank(lanes, r, world)))
        at(r, n).assign(numbers, bracketed(tree, n));
  }

  // Messages of a round are taken from what there was before it.
  bool run(const Round& round, bool reduces) {
    struct Message {
      Transfer t;
      std::vector<Sum> numbers;
    };
    std::vector<Message> under_way;
    bool good = true;
    for (const Transfer& t : round.transfers) {
      auto& from = at(t.from, t.node);
      Message m{t, {}};
      for (std::size_t i = t.elements.begin; i < t.elements.end; ++i) {
        good = good && from[i].has_value();
        m.numbers.push_back(from[i]);
        if (reduces) from[i].reset();
      }
      sent[t.from] += t.elements.size();
      received[t.to] += t.elements.size();
      if (reduces) reduced[t.from] += t.elements.size();
      ++messages[t.from];
      good = good && !t.elements.empty() && t.from != t.to;
      under_way.push_back(std::move(m));
    }
    for (const Message& m : under_way)
      for (std::size_t k = 0; k < m.numbers.size(); ++k) {
        Sum& to = at(m.t.to, m.t.node)[m.t.elements.begin + k];
        good = good && !to;  // nothing comes twice
        to = m.numbers[k];
      }
    for (const Addition& a : round.additions) {
      good = good && tree.adds(a.node);
      for (std::size_t i = a.elements.begin; i < a.elements.end; ++i) {
        const Sum left = at(a.rank, a.node.left())[i], right = at(a.rank, a.node.right())[i];
        good = good && left && right;
        at(a.rank, a.node)[i] = "(" + left.value_or("?") + "+" + right.value_or("?") + ")";
        ++additions[a.node];
      }
    }
    return good;
  }

  bool run() {
    begin();
    bool good = true;
    for (const Round& r : plan.reduce_scatter) good = run(r, true) && good;
    for (const Round& r : plan.allgather) good = run(r, false) && good;
    const Sum sum = bracketed(tree, tree.root());
    for (unsigned r = 0; r < world; ++r)
      for (const Sum& s : at(r, tree.root())) good = good && s == sum;
    return good;
  }
};

std::size_t total(const std::vector<std::size_t>& v) {
  return std::accumulate(v.begin(), v.end(), std::size_t{0});
}

}  // namespace

TEST_CASE("the tree of lanes depends on their number alone") {
  CHECK(bracketed(LaneTree(1), LaneTree(1).root()) == "0");
  CHECK(bracketed(LaneTree(3), LaneTree(3).root()) == "((0+1)+2)");
  CHECK(bracketed(LaneTree(6), LaneTree(6).root()) == "(((0+1)+(2+3))+(4+5))");
  CHECK(bracketed(LaneTree(8), LaneTree(8).root()) == "(((0+1)+(2+3))+((4+5)+(6+7)))");
  CHECK_THROWS_AS(LaneTree(0), ArgumentError);
  CHECK_THROWS_AS(LaneTree((1u << 20) + 1), ArgumentError);
}

TEST_CASE("lanes and samples are dealt out evenly") {
  for (unsigned lanes = 1; lanes <= 64; ++lanes)
    for (unsigned world = 1; world <= 33; ++world) {
      std::size_t next = 0, least = lanes, most = 0;
      for (unsigned r = 0; r < world; ++r) {
        const Interval own = lanes_of_rank(lanes, r, world);
        REQUIRE(own.begin == next);
        next = own.end;
        least = std::min(least, own.size());
        most = std::max(most, own.size());
        std::size_t at = own.begin;
        for (const LaneNode n : LaneTree(lanes).cover(own)) {
          REQUIRE(LaneTree(lanes).lanes_of(n).begin == at);
          at = LaneTree(lanes).lanes_of(n).end;
        }
        REQUIRE(at == own.end);
      }
      REQUIRE(next == lanes);
      REQUIRE(most - least <= 1);
      REQUIRE(!lanes_of_rank(lanes, 0, world).empty());
    }
  for (const std::size_t samples : {0u, 1u, 5u, 31u, 32u, 33u, 1000u}) {
    std::size_t next = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      const Interval own = samples_of_lane(samples, lane, 32);
      REQUIRE(own.begin == next);
      REQUIRE(own.size() - samples / 32 <= 1);
      next = own.end;
    }
    CHECK(next == samples);
  }
  // Few samples are spread over all processes.
  for (unsigned rank = 0; rank < 4; ++rank) {
    std::size_t samples = 0;
    for (unsigned lane = 8 * rank; lane < 8 * (rank + 1); ++lane)
      samples += samples_of_lane(16, lane, 32).size();
    CHECK(samples == 4);
  }
}

TEST_CASE("a balanced order gives every process about as much to do") {
  // Sizes as those of sentences, the same in every run.
  const auto sizes_of = [](std::size_t n) {
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < n; ++i) sizes.push_back(1 + i * i * 37 % 41 * (i % 3));
    return sizes;
  };
  const auto most_of = [](const std::vector<std::size_t>& sizes,
                          const std::vector<std::size_t>& order, unsigned lanes, unsigned world) {
    std::size_t most = 0;
    for (unsigned r = 0; r < world; ++r) {
      const Interval own = lanes_of_rank(lanes, r, world);
      std::size_t size = 0;
      for (std::size_t lane = own.begin; lane < own.end; ++lane) {
        const Interval part = samples_of_lane(sizes.size(), static_cast<unsigned>(lane), lanes);
        for (std::size_t k = part.begin; k < part.end; ++k) size += sizes[order[k]];
      }
      most = std::max(most, size);
    }
    return most;
  };
  for (const std::size_t n : {0u, 1u, 7u, 20u, 64u, 100u, 257u})
    for (const unsigned lanes : {1u, 5u, 32u, 48u}) {
      INFO(n << " samples, " << lanes << " lanes");
      const auto order = balanced_order(sizes_of(n), lanes);
      std::vector<std::size_t> sorted = order;
      std::sort(sorted.begin(), sorted.end());
      std::vector<std::size_t> all(n);
      std::iota(all.begin(), all.end(), std::size_t{0});
      REQUIRE(sorted == all);
    }
  const auto sizes = sizes_of(64);
  const std::size_t total = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
  const auto order = balanced_order(sizes, 32);
  for (const unsigned world : {2u, 4u, 8u}) {
    INFO(world << " processes");
    CHECK(static_cast<double>(most_of(sizes, order, 32, world) * world) <
          1.03 * static_cast<double>(total));
  }
  CHECK(balanced_order({5, 5, 5, 5}, 4) == std::vector<std::size_t>{0, 2, 1, 3});
}

TEST_CASE("the messages make the sum of the tree, each addition once") {
  for (unsigned lanes = 1; lanes <= 64; ++lanes)
    for (unsigned world = 1; world <= 33; ++world) {
      Simulation s{lanes, world, 5};
      INFO(lanes << " lanes, " << world << " processes");
      REQUIRE(s.run());
      for (const auto& [node, count] : s.additions) REQUIRE(count == s.numbers);
      std::size_t within = 0, inner = 0;
      for (unsigned level = 1; level <= s.tree.depth(); ++level)
        for (unsigned i = 0; i < s.tree.width(level); ++i) inner += s.tree.adds({level, i});
      for (unsigned r = 0; r < world; ++r)
        for (const LaneNode n : s.tree.cover(lanes_of_rank(lanes, r, world)))
          within += s.tree.lanes_of(n).size() - 1;
      REQUIRE(s.additions.size() + within == inner);
      REQUIRE(inner + 1 == lanes);
    }
}

TEST_CASE("so many numbers travel as the plan promises") {
  constexpr std::size_t kNumbers = 997;
  for (const unsigned lanes : {1u, 8u, 21u, 32u, 64u})
    for (unsigned world = 1; world <= 33; ++world) {
      Simulation s{lanes, world, kNumbers};
      s.begin();
      for (const Round& r : s.plan.reduce_scatter) s.run(r, true);
      for (const Round& r : s.plan.allgather) s.run(r, false);
      INFO(lanes << " lanes, " << world << " processes");
      REQUIRE(total(s.reduced) <= most_travelling_nodes(lanes, world) * kNumbers);
      const std::size_t active = std::min(lanes, world);
      REQUIRE(total(s.sent) - total(s.reduced) == (world - 1) * kNumbers);
      for (unsigned r = 0; r < world && world <= lanes; ++r)
        REQUIRE(std::max(s.sent[r], s.received[r]) <= 6 * kNumbers);
      if (!std::has_single_bit(lanes) || !std::has_single_bit(world) || active < world) continue;
      const auto rounds = static_cast<std::size_t>(std::bit_width(world) - 1);
      for (unsigned r = 0; r < world; ++r) {
        const double exact = 2.0 * kNumbers * (world - 1) / world;
        REQUIRE(std::abs(static_cast<double>(s.sent[r]) - exact) <= 2.0 * rounds);
        REQUIRE(std::abs(static_cast<double>(s.received[r]) - exact) <= 2.0 * rounds);
        REQUIRE(s.messages[r] == 2 * rounds);
      }
    }
}

TEST_CASE("processes without lanes get the sum from different ones") {
  const MessagePlan plan = plan_messages(4, 12, 100);
  std::map<unsigned, std::size_t> sent;
  for (const Transfer& t : plan.allgather.back().transfers) sent[t.from] += t.elements.size();
  CHECK(sent == std::map<unsigned, std::size_t>{{0, 200}, {3, 200}, {6, 200}, {9, 200}});
}

TEST_CASE("plans of nothing, and of too few processes") {
  const MessagePlan nothing = plan_messages(8, 4, 0);
  for (const auto* rounds : {&nothing.reduce_scatter, &nothing.allgather})
    for (const Round& r : *rounds) CHECK((r.transfers.empty() && r.additions.empty()));
  const MessagePlan alone = plan_messages(32, 1, 10);
  CHECK((alone.reduce_scatter.empty() && alone.allgather.empty()));
  CHECK_THROWS_AS(plan_messages(8, 0, 1), ArgumentError);
}

}  // namespace message_plan_test
