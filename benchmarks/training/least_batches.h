#pragma once

#include <cstddef>

#include "dynet-like/plan/plan.h"

namespace bench {

/// No order in which the nodes [begin, end) can run has fewer batches: for each key the
/// longest chain of its nodes along the edges of the graph, and every node of a form that never
/// batches. Parameters, lookups, aliases and transfers run nothing and do not count. Takes the
/// product of nodes and keys.
std::size_t least_batches(const dynet::GraphStore& graph, dynet::NodeId begin, dynet::NodeId end);

}  // namespace bench
