#pragma once

#include <cstddef>
#include <cstdint>

#include "dynet-like/graph/index_lists.h"
#include "dynet-like/graph/indices.h"
#include "dynet-like/graph/op.h"

namespace dynet {

/// Classes given by value are the payload, here and below.
struct HingeAttr {
  double margin;
  Indices indices;
  std::int64_t extreme;
};

struct HingeDimAttr {
  double margin;
  std::uint64_t dimension;
  IndexLists indices;
};

/// The classes of a node for this run, list after list, checked to be below `limit` and to be as
/// many as there are `positions`.
void read_classes(const GraphStore& graph, const Node& node, const HingeDimAttr& a,
                  const unsigned* in_node, std::size_t limit, std::size_t positions, unsigned* to);

/// e^x - n x + log(n!) for the counts n.
struct PoissonAttr {
  Indices indices;
  std::int64_t extreme;
};

}  // namespace dynet
