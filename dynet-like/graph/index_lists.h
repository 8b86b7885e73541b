#pragma once

#include <cstdint>

namespace dynet {

/// Lists of indices as an attribute: given by value, then the payload of the node holds the lengths
/// of all lists and behind them their indices; or behind a pointer that is read again at every
/// forward.
struct IndexLists {
  enum Source : std::uint32_t { in_node, at_list, at_lists };
  const void* pointer;  // const std::vector<unsigned>* or const std::vector<std::vector<unsigned>>*
  Source source;
  std::uint32_t lists;
  std::uint32_t total;              // indices in all lists
  std::uint32_t largest;            // of them; zero if they are behind a pointer
  std::uint32_t shortest, longest;  // lists
};

}  // namespace dynet
