#pragma once

#include <cstdint>

namespace dynet {

/// Attributes of a node with `children` predecessors: one in a sequence, any number in a tree.
struct LstmGatesAttr {
  double forget_bias;
  std::uint64_t children;
};

}  // namespace dynet
