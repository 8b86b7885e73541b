#pragma once

#include "dynet-like/plan/planner.h"

namespace dynet {

// Planners of the values of PlanPolicy, each in a file of its own.
void plan_in_order(const GraphStore& graph, NodeId begin, NodeId end, Plan& plan);
void plan_in_batches(const GraphStore& graph, NodeId begin, NodeId end, PlanScratch& scratch,
                     Plan& plan);

}  // namespace dynet
