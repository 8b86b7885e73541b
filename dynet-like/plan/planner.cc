#include "dynet-like/plan/planner.h"

#include "dynet-like/plan/policies.h"

namespace dynet {

void Planner::make(const GraphStore& graph, NodeId begin, NodeId end, Plan& plan) {
  if (policy_ == PlanPolicy::in_order)
    plan_in_order(graph, begin, end, plan);
  else
    plan_in_batches(graph, begin, end, scratch_, plan);
}

}  // namespace dynet
