#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "dynet-like/plan/plan_maker.h"
#include "dynet-like/plan/verify.h"
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

/// Whether the values of a batch may differ in size.
inline bool is_ragged(const GraphStore& g, NodeId id) {
  return g.nodes[id].form->batch.value.ragged.in_value();
}

/// Checks of the steps that hold for every plan of every graph.
inline void check_steps(const Graph& g, NodeId begin, NodeId end, const Plan& plan) {
  REQUIRE(plan.begin == begin);
  REQUIRE(plan.end == end);
  PlanVerifier().verify(g, plan);
  // The nodes of a step have one key and are in the order of creation, except in steps of earlier
  // terms.
  for (const Step& s : plan.steps) {
    const NodeId* b = plan.order.data() + s.first;
    for (std::size_t k = 1; k < s.count; ++k) {
      REQUIRE(same_key(g, g.nodes[b[0]], g.nodes[b[k]]));
      if (s.terms.all() || s.accumulates) REQUIRE(b[k - 1] < b[k]);
    }
  }
}

}  // namespace hand_made
