#pragma once

#include <array>
#include <cstdint>

#include "dynet-like/base/pod_vector.h"
#include "dynet-like/graph/op.h"

namespace dynet {

/// No batch key, edge, node or pair.
inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// Common properties of nodes that may run as one batch, apart from their ranks.
struct BatchKey {
  const OpForm* form;
  NodeId first;        ///< the first node with this key
  std::uint32_t kind;  ///< in the graph's NodeKindTable
  std::uint32_t count;
  std::uint32_t arity;
  std::uint32_t args;          ///< position of the first node's operands in the graph's list
  std::uint32_t shared;        ///< number of leading operands that all nodes of a batch share
  std::uint32_t first_matrix;  ///< every second operand from this one on is shared as well
  std::uint32_t edge;          ///< first edge from the key of an operand, see BatchKeys::edges
  std::uint32_t first_pair;    ///< of a sum of products, else kNone
  std::uint32_t flags;         ///< node flags; only those of same_planning count
  std::uint64_t operands;      ///< bit k: an operand has the key k, for keys below 64
  bool compares;               ///< nodes of one kind may have different keys: operands are compared
  std::uint32_t slot;          ///< in BatchKeys::table_, if it compares

  bool has_products() const { return first_pair != kNone; }
  /// Whether its nodes may have different matrices of one shape.
  bool has_own_matrices() const { return flags & Node::kOwnMatrix; }
};

/// The nodes [begin, end) of a graph by batch key: by node kind and, in sums of products, by the
/// operands that all nodes of a batch share. Memory is reused from call to call.
class BatchKeys {
 public:
  struct Edge {
    std::uint32_t from;  ///< key of an operand
    std::uint32_t next;  ///< the next edge of the same user, or kNone
  };

  /// Finds the key of each node and the edges between keys. first_arg[i] is set to the position of
  /// the operands of node begin + i.
  void assign(const GraphStore& graph, NodeId begin, NodeId end, std::uint32_t* first_arg);

  PodVector<BatchKey> all;      ///< in the order of their first nodes
  PodVector<std::uint32_t> of;  ///< by node
  PodVector<Edge> edges;        ///< may contain duplicates

 private:
  // Edges from the first keys are bits until all nodes have been seen.
  static constexpr std::uint32_t kMasked = 64;

  std::uint32_t find(const GraphStore& graph, NodeId id);
  std::uint32_t add(const GraphStore& graph, NodeId id);
  void grow_table(const GraphStore& graph);
  void add_edge(std::uint32_t from, std::uint32_t to);
  void link(std::uint32_t from, std::uint32_t to);

  PodVector<std::uint32_t> latest_;        // by node kind: the last key found
  PodVector<std::uint32_t> table_;         // open addressing, of the keys that compare operands
  std::array<std::uint64_t, 64> recent_;   // edges
  std::array<std::uint32_t, 64> guesses_;  // keys that compare operands
  std::size_t comparing_ = 0;              // keys in the table
};

}  // namespace dynet
