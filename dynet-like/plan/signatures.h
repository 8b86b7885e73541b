#pragma once

#include <array>
#include <cstdint>

#include "dynet-like/base/pod_vector.h"
#include "dynet-like/graph/op.h"

namespace dynet {

/// No signature, edge, node or pair.
inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// Common properties of nodes that may run together, their levels aside.
struct Signature {
  const OpForm* form;
  NodeId first;          ///< the node that stands for all
  std::uint32_t number;  ///< in the graph's SignatureTable
  std::uint32_t count;
  std::uint32_t arity;
  std::uint32_t args;          ///< where the first node's operands are listed in the graph
  std::uint32_t shared;        ///< so many first operands are the same nodes in all of a batch,
  std::uint32_t first_matrix;  ///< and from this one on each second one
  std::uint32_t edge;        ///< to the first signature among the operands', see Signatures::edges
  std::uint32_t first_pair;  ///< of a sum of products, else kNone
  std::uint32_t flags;       ///< of which those of same_planning count
  std::uint64_t operands;    ///< bits of signatures below 64: its operands'
  bool compares;             ///< its number does not say all: operands have a say, too
  std::uint32_t slot;        ///< in Signatures::table_, if it compares

  bool has_products() const { return first_pair != kNone; }
  /// Whether its nodes may differ in their matrices, but for the shape.
  bool has_own_matrices() const { return flags & Node::kOwnMatrix; }
};

/// The nodes [begin, end) of a graph by signature: by the graph's own numbers and, of sums of
/// products, by the operands that all nodes of a batch share. Memory is kept from call to call.
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
  // Edges from so many signatures are bits until all nodes have been seen.
  static constexpr std::uint32_t kMasked = 64;

  std::uint32_t find(const GraphStore& graph, NodeId id);
  std::uint32_t add(const GraphStore& graph, NodeId id);
  void grow_table(const GraphStore& graph);
  void add_edge(std::uint32_t from, std::uint32_t to);
  void link(std::uint32_t from, std::uint32_t to);

  PodVector<std::uint32_t> latest_;        // by the graph's number, the signature that came last
  PodVector<std::uint32_t> table_;         // open addressing, of those that compare
  std::array<std::uint64_t, 64> recent_;   // edges
  std::array<std::uint32_t, 64> guesses_;  // signatures that compare
  std::size_t comparing_ = 0;              // in the table
};

}  // namespace dynet
