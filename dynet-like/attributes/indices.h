#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "dynet-like/graph/index_lists.h"
#include "dynet-like/graph/indices.h"
#include "dynet-like/graph/op.h"

namespace dynet {

/// Throws IndexError with the operation, the index, the name of its limit, and the node's line.
[[noreturn]] void throw_index_out_of_range(const GraphStore& graph, const Node& node,
                                           unsigned index, std::size_t limit, const char* limit_of);
/// read_indices with the node's line added to its error.
const unsigned* read_indices_of(const GraphStore& graph, const Node& node, const Indices& indices,
                                const unsigned* in_node);

/// The current list of a batch element, with indices checked to be below `limit`. Throws IndexError
/// if the number of lists has changed since the node was made.
std::span<const unsigned> read_list_of(const GraphStore& graph, const Node& node,
                                       const IndexLists& lists, const unsigned* in_node,
                                       std::size_t element, std::size_t limit,
                                       const char* limit_of);

/// Number of scratch elements for `keep_indices`.
inline std::size_t index_scratch(const Indices& indices) {
  return indices.source == Indices::in_node ? 0 : indices.count;
}

/// The indices of node i in this run. Indices behind a pointer are checked and copied to `scratch`,
/// so that backward reads the indices of forward. `A` is an attribute struct with a member
/// `indices`; indices given by value are its payload.
template <class A, class T>
const unsigned* keep_indices(const Batch<T>& b, std::size_t i, T* scratch, std::size_t limit,
                             const char* limit_of) {
  static_assert(sizeof(unsigned) <= sizeof(T));
  const Indices& indices = b.template attr<A>(i).indices;
  const unsigned* given = b.template payload<A, unsigned>(i);
  if (indices.source == Indices::in_node) return given;
  given = read_indices_of(b.graph, b.node(i), indices, given);
  auto* kept = reinterpret_cast<unsigned*>(scratch);
  for (std::uint32_t k = 0; k < indices.count; ++k) {
    const unsigned index = given[k];
    if (index >= limit) throw_index_out_of_range(b.graph, b.node(i), index, limit, limit_of);
    kept[k] = index;
  }
  return kept;
}

/// The indices that `keep_indices` returned in forward.
template <class A, class T>
const unsigned* kept_indices(const Batch<T>& b, std::size_t i, const T* scratch) {
  return b.template attr<A>(i).indices.source == Indices::in_node
             ? b.template payload<A, unsigned>(i)
             : reinterpret_cast<const unsigned*>(scratch);
}

}  // namespace dynet
