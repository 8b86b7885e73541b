#include "kernels/cpu/indices.h"

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"

namespace dynet::cpu {

void throw_index_out_of_range(const Node& node, unsigned index, std::size_t limit,
                              const char* limit_of) {
  throw IndexError(std::string(node.form->name) + ": index " + std::to_string(index) +
                       " is outside " + limit_of + " of size " + std::to_string(limit) + "\n  at " +
                       to_string(node.at()),
                   node.at());
}

const unsigned* read_indices_of(const Node& node, const Indices& indices, const unsigned* in_node) {
  try {
    return read_indices(indices, in_node, node.form->name);
  } catch (const IndexError& e) {
    throw IndexError(std::string(e.what()) + "\n  at " + to_string(node.at()), node.at());
  }
}

}  // namespace dynet::cpu
