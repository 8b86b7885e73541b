#pragma once

#include <cstddef>

#include "dynet-like/graph/index_lists.h"
#include "dynet-like/graph/indices.h"
#include "dynet-like/graph/op.h"

namespace dynet::cpu {

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
void read_classes(const Node& node, const HingeDimAttr& a, const unsigned* in_node,
                  std::size_t limit, std::size_t positions, unsigned* to);

/// The sum over all classes j but the right one i of max(0, margin - x_i + x_j), where minus
/// infinity as x_j gives zero. `A` is one of the attributes above.
template <class A>
struct Hinge {
  template <class T>
  static void forward(const Batch<T>& b);
  template <class T>
  static void backward(const GradientBatch<T>& b);
  /// The classes of this run.
  static std::size_t aux(const GraphStore& graph, const Node& n);
};

/// e^x - n x + log(n!) for the counts n.
struct PoissonAttr {
  Indices indices;
  std::int64_t extreme;
};
template <class T>
void poisson_forward(const Batch<T>& b);
template <class T>
void poisson_backward(const GradientBatch<T>& b);
std::size_t poisson_aux(const GraphStore& graph, const Node& n);

}  // namespace dynet::cpu
