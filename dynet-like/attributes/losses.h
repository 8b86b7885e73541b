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

/// The current classes of a node, list after list. Throws unless they are below `limit` and as many
/// as `positions`.
void read_classes(const GraphStore& graph, const Node& node, const HingeDimAttr& a,
                  const unsigned* in_node, std::size_t limit, std::size_t positions, unsigned* to);

/// Attributes of the loss e^x - n x + log(n!) for counts n.
struct PoissonAttr {
  Indices indices;
  std::int64_t extreme;
};

}  // namespace dynet
