#pragma once

#include <cstddef>

#include "dynet-like/plan/plan.h"

namespace bench {

/// Lower bound of the number of batches of the nodes [begin, end) in any order: for each batch key
/// the longest chain of its nodes along the edges of the graph, plus every node of a form that
/// never batches. Parameters, lookups, aliases and transfers run no kernel and are not counted.
/// Time: nodes times keys.
std::size_t least_batches(const dynet::GraphStore& graph, dynet::NodeId begin, dynet::NodeId end);

}  // namespace bench
