#include "dynet-like/graph/indices.h"

#include <string>

#include "dynet-like/base/errors.h"

namespace dynet {

const unsigned* read_indices(const Indices& indices, const unsigned* in_node, const char* op) {
  switch (indices.source) {
    case Indices::at_pointer:
      return static_cast<const unsigned*>(indices.pointer);
    case Indices::at_vector: {
      const auto& v = *static_cast<const std::vector<unsigned>*>(indices.pointer);
      if (v.size() != indices.count)
        throw IndexError(std::string(op) + ": the vector of indices had " +
                         std::to_string(indices.count) + " when the node was made and now has " +
                         std::to_string(v.size()));
      return v.data();
    }
    default:
      return in_node;
  }
}

}  // namespace dynet
