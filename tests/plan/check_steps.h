#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "dynet-like/plan/planner.h"
#include "tests/plan/hand_made.h"
#include "tests/support/catch.h"

namespace hand_made {

using Nodes = std::vector<NodeId>;

inline std::vector<Nodes> batches(const Plan& plan) {
  std::vector<Nodes> all;
  for (const Step& s : plan.steps)
    all.emplace_back(plan.order.begin() + s.first, plan.order.begin() + s.first + s.count);
  return all;
}

/// Whether the values of a batch may differ in their sizes.
inline bool is_ragged(const GraphStore& g, NodeId id) {
  return g.nodes[id].form->batch.value.ragged.in_value();
}

/// What must hold for the steps of every plan of every graph.
inline void check_steps(const Graph& g, NodeId begin, NodeId end, const Plan& plan) {
  REQUIRE(plan.begin == begin);
  REQUIRE(plan.end == end);
  // Steps share out the order; every node begun once.
  Nodes begun;
  std::vector<std::size_t> step_of(end);  // where its value is complete; 0: before the plan
  std::vector<bool> taken(plan.order.size());
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    REQUIRE(step.count > 0);
    REQUIRE(step.first + step.count <= plan.order.size());
    for (std::uint32_t k = step.first; k < step.first + step.count; ++k) {
      REQUIRE_FALSE(taken[k]);
      taken[k] = true;
      if (!step.accumulates) begun.push_back(plan.order[k]);
      step_of[plan.order[k]] = s + 1;
    }
  }
  REQUIRE(std::count(taken.begin(), taken.end(), true) ==
          static_cast<std::ptrdiff_t>(plan.order.size()));
  std::sort(begun.begin(), begun.end());
  REQUIRE(begun.size() == end - begin);
  for (NodeId i = 0; i < begun.size(); ++i) REQUIRE(begun[i] == begin + i);
  // Every operand used once, when its value is complete.
  std::map<std::pair<NodeId, std::size_t>, int> uses;
  for (std::size_t s = 0; s < plan.steps.size(); ++s)
    for (std::uint32_t i = 0; i < plan.steps[s].count; ++i) {
      const NodeId id = plan.order[plan.steps[s].first + i];
      const BatchRule rule = g.nodes[id].form->batch;
      for (std::size_t k = 0; k < g.nodes[id].arity; ++k) {
        if (!plan.steps[s].terms.all() && !plan.steps[s].terms.has(rule.term_of(k))) continue;
        REQUIRE(step_of[g.args[g.nodes[id].first_arg + k]] < s + 1);
        REQUIRE(++uses[{id, k}] == 1);
      }
    }
  for (NodeId id = begin; id < end; ++id)
    for (std::size_t k = 0; k < g.nodes[id].arity; ++k) REQUIRE(uses.count({id, k}) == 1);
  // Batches of nodes that may be one, side by side, in the order of creation unless they were begun
  // together and go on apart.
  for (const Step& s : plan.steps) {
    const NodeId* b = plan.order.data() + s.first;
    for (std::size_t k = 1; k < s.count; ++k) {
      REQUIRE(same_signature(g, g.nodes[b[0]], g.nodes[b[k]]));
      if (s.terms.all() || s.accumulates) REQUIRE(b[k - 1] < b[k]);
      const auto at = [&](std::size_t i) { return plan.value[b[i] - begin]; };
      if (at(0) == Plan::kNoMemory)
        REQUIRE(at(k) == Plan::kNoMemory);
      else if (!is_ragged(g, b[0]))
        REQUIRE(at(k) == at(0) + k * g.nodes[b[0]].dim.size());
    }
  }
  for (const Step& s : plan.steps)  // aligned
    for (std::uint32_t k = 0; k < (is_ragged(g, plan.order[s.first]) ? s.count : 1); ++k) {
      const NodeId id = plan.order[s.first + k];
      const std::uint64_t at = plan.value[id - begin];
      if (at == Plan::kNoMemory || s.accumulates) continue;
      REQUIRE(at % 4 == 0);
      if (g.nodes[id].dim.size() >= 16) REQUIRE(at % 16 == 0);
    }
}

}  // namespace hand_made
