#include "dynet-like/plan/planner.h"

#include "dynet-like/plan/policies.h"

namespace dynet {
namespace {

struct PolicyFacts {
  void (*make)(const GraphStore&, NodeId begin, NodeId end, PlanScratch&, Plan&);
  bool caches, sees_later_nodes, uses_windows;
};

// By PlanPolicy.
constexpr PolicyFacts kPolicies[] = {
    {plan_in_order, false, false, false},
    {plan_in_batches, true, false, true},
    {plan_with_reuse, true, true, false},
    {plan_for_inference, true, true, false},
};

const PolicyFacts& facts(PlanPolicy policy) { return kPolicies[static_cast<unsigned>(policy)]; }

}  // namespace

void Planner::make(const GraphStore& graph, NodeId begin, NodeId end, Plan& plan) {
  facts(policy_).make(graph, begin, end, scratch_, plan);
}
bool Planner::caches() const { return facts(policy_).caches; }
bool Planner::sees_later_nodes() const { return facts(policy_).sees_later_nodes; }
bool Planner::uses_windows() const { return facts(policy_).uses_windows; }

}  // namespace dynet
