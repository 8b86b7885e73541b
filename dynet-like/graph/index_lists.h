#pragma once

#include <cstdint>

namespace dynet {

/// Lists of indices as an attribute. Lists given by value are in the payload of the node: the
/// lengths of all lists, then all indices. Lists behind a pointer are read again at every forward.
struct IndexLists {
  enum Source : std::uint32_t { in_node, at_list, at_lists };
  const void* pointer;  // const std::vector<unsigned>* or const std::vector<std::vector<unsigned>>*
  Source source;
  std::uint32_t lists;
  std::uint32_t total;              // indices in all lists
  std::uint32_t largest;            // largest index; zero for pointers
  std::uint32_t shortest, longest;  // lengths of lists
};

}  // namespace dynet
