#include "dynet-like/attributes/losses.h"

#include <algorithm>
#include <string>

#include "dynet-like/attributes/indices.h"
#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"

namespace dynet {

void read_classes(const GraphStore& graph, const Node& node, const HingeDimAttr& a,
                  const unsigned* in_node, std::size_t limit, std::size_t positions, unsigned* to) {
  for (std::size_t l = 0; l < a.indices.lists; ++l) {
    const auto list = read_list_of(graph, node, a.indices, in_node, l, limit, "the dimension");
    if (a.indices.source != IndexLists::in_node && list.size() != positions)
      throw IndexError(std::string(node.form->name) + ": needs " + std::to_string(positions) +
                           " classes, the list has now " + std::to_string(list.size()) + "\n  at " +
                           to_string(graph.at(node)),
                       graph.at(node));
    to = std::copy(list.begin(), list.end(), to);
  }
}

}  // namespace dynet
