#pragma once

#include <array>
#include <cstdint>

#include "dynet-like/base/pod_vector.h"
#include "dynet-like/graph/op.h"

namespace dynet {

/// No batch key, edge, node or pair.
inline constexpr std::uint32_t kNoIndex = ~std::uint32_t{0};

/// Nodes that may run as one batch if their ranks are equal.
struct BatchKey {
  const OpForm* form;
  NodeId first;        ///< the first node with this key
  std::uint32_t kind;  ///< in the graph's NodeKindTable
  std::uint32_t count;
  std::uint32_t arity;
  std::uint32_t args;  ///< position of the first node's operands in the graph's list
  std::uint32_t bias;  ///< operand before the pairs of a sum, shared by a batch; or kNoIndex
  std::uint32_t first_matrix;  ///< every second operand from this one on is shared as well
  std::uint32_t edge;          ///< first of its edges in BatchKeys::edges
  std::uint32_t first_pair;    ///< of a sum of products (BatchRule::first_pair), else kNoIndex
  std::uint32_t flags;         ///< node flags; only those of same_planning count
  std::uint64_t operands;      ///< bit k: some operand has key k, for keys below 64
  bool compares;               ///< nodes of its kind may have other keys: operands are compared
  std::uint32_t slot;          ///< in BatchKeys::table_, if `compares`

  bool has_products() const { return first_pair != kNoIndex; }
  /// Whether its nodes may have different matrices of one shape.
  bool has_own_matrices() const { return flags & Node::kOwnMatrix; }
};

/// Batch keys of the nodes [begin, end) of a graph: the node kind and, in sums of products, the
/// operands that all nodes of a batch share. Memory is reused from call to call.
class BatchKeys {
 public:
  struct Edge {
    std::uint32_t from;  ///< key of an operand
    std::uint32_t next;  ///< the next edge of the same user, or kNoIndex
  };

  /// Finds the key of each node and the edges between keys. Sets first_arg[i] to the position of
  /// the operands of node begin + i.
  void assign(const GraphStore& graph, NodeId begin, NodeId end, std::uint32_t* first_arg);

  PodVector<BatchKey> all;      ///< in the order of their first nodes
  PodVector<std::uint32_t> of;  ///< key of node begin + i
  PodVector<Edge> edges;        ///< may contain duplicates

 private:
  // Edges from keys below kMasked are bits in BatchKey::operands until all nodes are assigned.
  static constexpr std::uint32_t kMasked = 64;

  std::uint32_t find(const GraphStore& graph, NodeId id);
  std::uint32_t add(const GraphStore& graph, NodeId id);
  void grow_table(const GraphStore& graph);
  void add_edge(std::uint32_t from, std::uint32_t to);
  void link(std::uint32_t from, std::uint32_t to);

  PodVector<std::uint32_t> latest_;        // by node kind: the key found last
  PodVector<std::uint32_t> table_;         // keys that compare operands, open addressing
  std::array<std::uint64_t, 64> recent_;   // edges added recently, to skip duplicates
  std::array<std::uint32_t, 64> guesses_;  // recent keys that compare operands
  std::size_t comparing_ = 0;              // number of keys in the table
};

}  // namespace dynet
