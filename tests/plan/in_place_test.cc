// Values computed in place, and scratch over operands: only over operands that neither forward nor
// backward reads afterwards.

#include <algorithm>
#include <vector>

#include "dynet-like/base/random.h"
#include "dynet-like/plan/plan_maker.h"
#include "tests/plan/check_steps.h"
#include "tests/support/catch.h"

namespace in_place_test {

using namespace hand_made;

namespace {

OpForm reading(const char* name, Reads reads, Kind kind = Kind::compute) {
  OpForm f = form(name, kind);
  f.reads = reads;
  return f;
}

const OpForm kSource = form("source"), kParameter = form("parameter", Kind::parameter),
             kRows = form("rows", Kind::lookup), kView = form("view", Kind::alias),
             kNeither = reading("neither", Reads::nothing),
             kOperands = reading("operands", Reads::inputs),
             kValue = reading("value", Reads::output), kBoth = reading("both", Reads::both),
             kInPlace = reading("in place", Reads::output_in_place),
             kInPlaceToo = reading("in place too", Reads::output_in_place),
             kSums = form("sums", Kind::compute, BatchRule::sequences({.cols = Ragged::kValue}));

// Scratch of two elements before those of the first operand.
const OpForm kGates = [] {
  OpForm f = form("gates", Kind::compute,
                  BatchRule::sequences({.cols = Ragged::kValue | Ragged::operand(0)}),
                  [](const GraphStore&, const Node& n) { return 2 + n.dim.size(); });
  f.scratch_before_operand = [](const Dim&) { return std::size_t{2}; };
  return f;
}();
constexpr NodeId kScratch = NodeId{1} << 30;  // owner of the scratch of node id: kScratch + id

/// A graph whose nodes often have a single user, as in a network.
Graph network(std::uint64_t seed) {
  static const OpForm* const kForms[] = {&kNeither, &kOperands, &kValue,      &kBoth,
                                         &kInPlace, &kInPlace,  &kInPlaceToo, &kView,
                                         &kSums,    &kSums,     &kGates,      &kGates};
  const RandomStream random(seed);
  std::uint64_t draws = 0;
  const auto below = [&](std::uint64_t bound) { return random.bits(draws++) % bound; };
  Graph g;
  for (const OpForm* f : {&kSource, &kSource, &kParameter, &kRows}) g.add(*f, {5});
  const auto n = static_cast<NodeId>(20 + below(60));
  for (NodeId id = 4; id < n; ++id) {
    const auto any = [&] {
      return static_cast<NodeId>(below(3) ? id - 1 - below(std::min(id, 4u)) : below(id));
    };
    const OpForm& f = *kForms[below(std::size(kForms))];
    const bool one = f.kind == Kind::alias || f.reads == Reads::output_in_place || below(2) == 0;
    g.add(f, {5}, one ? std::vector<NodeId>{any()} : std::vector<NodeId>{any(), any()});
  }
  return g;
}

struct Memory {
  const Graph& g;
  const Plan& plan;
  std::vector<NodeId> owner = std::vector<NodeId>(plan.extent, ~NodeId{0});

  /// The node that owns the memory of a value, or a node before the plan.
  NodeId root(NodeId id) const {
    while (id >= plan.begin && g.nodes[id].form->kind == Kind::alias)
      id = g.args[g.nodes[id].first_arg];
    return id;
  }
  bool has_own(NodeId id) const {
    return id >= plan.begin && plan.value[id - plan.begin] != Plan::kNoMemory;
  }
  bool holds(NodeId id) const {
    const NodeId r = root(id);
    if (!has_own(r)) return true;
    const auto first = owner.begin() + static_cast<std::ptrdiff_t>(plan.value[r - plan.begin]);
    return std::all_of(first, first + static_cast<std::ptrdiff_t>(g.nodes[r].dim.size()),
                       [&](NodeId o) { return o == r; });
  }
  std::size_t scratch_of(NodeId id) const {
    return plan.aux[id - plan.begin] == Plan::kNoMemory ? 0 : 2 + g.nodes[id].dim.size();
  }
  bool holds_scratch(NodeId id) const {
    const auto first = owner.begin() + static_cast<std::ptrdiff_t>(plan.aux[id - plan.begin]);
    return std::all_of(first, first + static_cast<std::ptrdiff_t>(scratch_of(id)),
                       [&](NodeId o) { return o == kScratch + id; });
  }
  /// Simulates the plan; returns the number of values computed over others, and adds that of
  /// scratch over operands to `scratch_over`.
  std::size_t run(std::size_t& scratch_over) {
    std::size_t over = 0;
    for (const Step& s : plan.steps) {
      const NodeId* ids = plan.order.data() + s.first;
      for (std::uint32_t k = 0; k < s.count; ++k)
        for (const NodeId a : g.args_of(g.nodes[ids[k]])) REQUIRE(holds(a));
      for (std::uint32_t k = 0; k < s.count; ++k) {
        if (!has_own(ids[k])) continue;
        const auto first =
            owner.begin() + static_cast<std::ptrdiff_t>(plan.value[ids[k] - plan.begin]);
        over += *first != ~NodeId{0};
        std::fill_n(first, g.nodes[ids[k]].dim.size(), ids[k]);
      }
      for (std::uint32_t k = 0; k < s.count; ++k) {
        if (scratch_of(ids[k]) == 0) continue;
        const auto first =
            owner.begin() + static_cast<std::ptrdiff_t>(plan.aux[ids[k] - plan.begin]);
        scratch_over += first[2] != ~NodeId{0};
        std::fill_n(first, scratch_of(ids[k]), kScratch + ids[k]);
      }
    }
    return over;
  }
};

}  // namespace

TEST_CASE("a plan keeps the values that backward reads and marks all freed values") {
  std::size_t over = 0, scratch_over = 0;
  Plan plan;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    const Graph g = network(seed);
    const NodeId begin = seed % 3 ? 0 : 10, end = size(g);
    PlanMaker(PlanPolicy::in_batches).make(g, begin, end, plan);
    REQUIRE(plan.order.size() == end - begin);
    Memory memory{g, plan};
    over += memory.run(scratch_over);
    for (NodeId id = begin; id < end; ++id) {
      const Node& n = g.nodes[id];
      const Kind kind = n.form->kind;
      CAPTURE(id);
      REQUIRE(memory.has_own(id) ==
              (kind == Kind::compute || (kind == Kind::lookup && n.dim.bd != 1)));
      if (kind == Kind::compute) {
        const Reads reads = n.form->reads;
        if (reads_output(reads)) REQUIRE(memory.holds(id));
        if (reads == Reads::inputs || reads == Reads::both)
          for (const NodeId a : g.args_of(n)) REQUIRE(memory.holds(a));
      }
      const bool freed = !plan.freed.empty() && plan.freed[id - begin];
      if (memory.has_own(id)) REQUIRE(freed != memory.holds(id));
      if (memory.scratch_of(id)) REQUIRE(memory.holds_scratch(id));
    }
  }
  CHECK(over > 100);
  CHECK(scratch_over > 20);
}

TEST_CASE("scratch lies over an operand only if no other node reads that") {
  const auto overwritten = [](const std::vector<std::vector<NodeId>>& users) {
    Graph g;
    g.add(kSource, {5});
    for (int k = 0; k < 3; ++k) g.add(kSums, {5}, {0});
    for (const std::vector<NodeId>& operands : users) g.add(kGates, {5}, operands);
    const Plan plan = plan_of(g, 0, size(g));
    std::vector<NodeId> freed;
    for (NodeId id = 0; id < plan.freed.size(); ++id)
      if (plan.freed[id]) freed.push_back(id);
    return freed;
  };
  CHECK(overwritten({{1}, {2}, {3}}) == std::vector<NodeId>{1, 2, 3});
  CHECK(overwritten({{1}, {2}, {2}}).empty());               // two nodes of one batch
  CHECK(overwritten({{1, 0}, {2, 0}, {3, 4}}).size() == 3);  // the last one is a batch of its own
  CHECK(overwritten({{1, 0}, {2, 3}}).empty());
}

TEST_CASE("a batch is computed in place only if all of its nodes allow it") {
  Graph g;
  std::vector<NodeId> xs, ys;
  for (int k = 0; k < 4; ++k) xs.push_back(g.add(kSource, {5}));
  for (const NodeId x : xs) ys.push_back(g.add(kNeither, {5}, {x}));
  for (const NodeId y : {ys[0], ys[1], ys[2], ys[2]}) g.add(kInPlace, {5}, {y});
  const Plan plan = plan_of(g, 0, 12);
  Memory memory{g, plan};
  std::size_t scratch_over = 0;
  CHECK(memory.run(scratch_over) == 0);
  for (NodeId id = 0; id < 12; ++id) {
    CHECK(memory.holds(id));
    CHECK_FALSE((!plan.freed.empty() && plan.freed[id]));
  }
}

}  // namespace in_place_test
