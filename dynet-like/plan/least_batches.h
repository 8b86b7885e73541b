#pragma once

#include <cstddef>

#include "dynet-like/plan/plan.h"

namespace dynet {

/// No order in which the nodes [begin, end) can run has fewer batches: for each signature the
/// longest chain of its nodes along the edges of the graph, and every node of a form that never
/// batches. Parameters, lookups, aliases and transfers run nothing and do not count. Takes the
/// product of nodes and signatures.
std::size_t least_batches(const GraphStore& graph, NodeId begin, NodeId end);

/// The batches of a plan, counted in the same way: by what completes its nodes, so that the earlier
/// terms of sums of products do not count either.
std::size_t batches_of(const GraphStore& graph, const Plan& plan);

}  // namespace dynet
