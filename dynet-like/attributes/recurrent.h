#pragma once

#include <cstdint>

namespace dynet {

/// Of a node with so many predecessors: one in a sequence, its children in a tree.
struct LstmGatesAttr {
  double forget_bias;
  std::uint64_t children;
};

}  // namespace dynet
