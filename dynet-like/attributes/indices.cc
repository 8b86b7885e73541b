#include "dynet-like/attributes/indices.h"

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"

namespace dynet {

void throw_index_out_of_range(const GraphStore& graph, const Node& node, unsigned index,
                              std::size_t limit, const char* limit_of) {
  throw IndexError(std::string(node.form->name) + ": index " + std::to_string(index) +
                       " is outside " + limit_of + " of size " + std::to_string(limit) + "\n  at " +
                       to_string(graph.at(node)),
                   graph.at(node));
}

const unsigned* read_indices_of(const GraphStore& graph, const Node& node, const Indices& indices,
                                const unsigned* in_node) {
  try {
    return read_indices(indices, in_node, node.form->name);
  } catch (const IndexError& e) {
    throw IndexError(std::string(e.what()) + "\n  at " + to_string(graph.at(node)), graph.at(node));
  }
}

std::span<const unsigned> read_list_of(const GraphStore& graph, const Node& node,
                                       const IndexLists& lists, const unsigned* in_node,
                                       std::size_t element, std::size_t limit,
                                       const char* limit_of) {
  const std::size_t which = lists.lists == 1 ? 0 : element;
  std::span<const unsigned> list;
  if (lists.source == IndexLists::in_node) {
    const unsigned* at = in_node + lists.lists;
    for (std::size_t k = 0; k < which; ++k) at += in_node[k];
    return {at, in_node[which]};
  }
  if (lists.source == IndexLists::at_list) {
    list = *static_cast<const std::vector<unsigned>*>(lists.pointer);
  } else {
    const auto& all = *static_cast<const std::vector<std::vector<unsigned>>*>(lists.pointer);
    if (all.size() != lists.lists)
      throw IndexError(std::string(node.form->name) + ": there were " +
                           std::to_string(lists.lists) +
                           " lists of indices when the node was made and now there are " +
                           std::to_string(all.size()) + "\n  at " + to_string(graph.at(node)),
                       graph.at(node));
    list = all[which];
  }
  for (const unsigned index : list)
    if (index >= limit) throw_index_out_of_range(graph, node, index, limit, limit_of);
  return list;
}

}  // namespace dynet
