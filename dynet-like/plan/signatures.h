#pragma once

#include <array>
#include <cstdint>

#include "dynet-like/base/pod_vector.h"
#include "dynet-like/graph/op.h"
#include "dynet-like/graph/shape_table.h"

namespace dynet {

/// No signature, edge, node or pair.
inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// What nodes that may run together have in common, their levels aside.
struct Signature {
  const OpForm* form;
  const Dim* shape;  ///< of the first node; of all where values are not ragged
  NodeId first;      ///< the node that stands for all
  std::uint32_t count;
  std::uint32_t arity;
  std::uint32_t edge;        ///< to the first signature among the operands', see Signatures::edges
  std::uint32_t first_pair;  ///< of a sum of products, else kNone
  // For finding it again:
  std::uint32_t words, attr;  // of the attributes: how many count, and where the first node's are
  std::uint32_t operands;     // in Signatures::operands_
  std::array<std::uint32_t, 2> next;  // signatures that have followed
  std::uint32_t slot;                 // in Signatures::table_
  std::uint32_t flags;                // of which those of same_planning count
  Ragged ragged;

  const Dim& dim() const { return *shape; }
  bool has_products() const { return first_pair != kNone; }
  /// Whether its nodes may differ in their matrices, but for the shape.
  bool has_own_matrices() const { return flags & Node::kOwnMatrix; }
  /// Whether operands may not differ.
  bool shares_operands() const { return has_products() && !has_own_matrices(); }
};

/// The nodes [begin, end) of a graph by signature. Signatures are compared in full; the one that
/// came next the last time is tried first. Memory is kept from call to call.
class Signatures {
 public:
  struct Edge {
    std::uint32_t from;  ///< a signature
    std::uint32_t next;  ///< the next edge of the same user, or kNone
  };

  /// Fills all that is public below, and for every node where its operands are listed in the graph.
  void number(const GraphStore& graph, NodeId begin, NodeId end, std::uint32_t* first_arg);

  PodVector<Signature> all;     ///< in the order of their first nodes
  PodVector<std::uint32_t> of;  ///< by node
  PodVector<Edge> edges;        ///< some may be there twice

 private:
  /// In what the operands of a node agree with those of the last node of a signature.
  enum class Seen { nothing, shapes, signatures };

  Seen compare_operands(const GraphStore& graph, NodeId begin, const Node& n,
                        const Signature& s) const;
  std::uint32_t find(const GraphStore& graph, NodeId begin, const Node& n, NodeId id);
  void record(const GraphStore& graph, NodeId begin, const Node& n, std::uint32_t sig);
  void add_edge(std::uint32_t from, std::uint32_t to);
  void grow_table(const GraphStore& graph);

  PodVector<std::uint32_t> table_;  // open addressing
  PodVector<std::uint32_t>
      operands_;  // of a node seen last: the node if shared, else its signature
  std::array<std::uint64_t, 64> recent_;  // edges
  bool ragged_values_ = false;            // in some signature
};

/// Whether two nodes have one signature, whether or not their form batches.
bool alike(const GraphStore& graph, const Node& a, const Node& b);
/// Equal for nodes of one signature.
std::uint64_t signature_hash(const GraphStore& graph, const Node& n);
/// The same but for which node an operand is that all of a batch share: its shape alone counts.
std::uint64_t shape_hash(const GraphStore& graph, const Node& n);

/// Equality of shapes; fast where they are one, or written alike.
inline bool same_shape(const Dim& a, const Dim& b) {
  return &a == &b || written_alike(a, b) || a == b;
}

}  // namespace dynet
