#pragma once

#include <cstddef>
#include <cstdint>

#include "dynet-like/graph/index_lists.h"
#include "dynet-like/graph/indices.h"
#include "dynet-like/graph/op.h"

namespace dynet {

/// Payload, here and in the structs below: the classes given by value.
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

/// Reads the classes of a node for this run into `to`, list after list. Each class must be below
/// `limit`, and each list must have one class for each of `positions`.
void read_classes(const GraphStore& graph, const Node& node, const HingeDimAttr& a,
                  const unsigned* in_node, std::size_t limit, std::size_t positions, unsigned* to);

/// Attributes of the Poisson loss e^x - n x + log(n!) for counts n.
struct PoissonAttr {
  Indices indices;
  std::int64_t extreme;
};

}  // namespace dynet
