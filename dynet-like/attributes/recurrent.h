#pragma once

#include <cstdint>

namespace dynet {

/// Attributes of LSTM gates and cells with `children` predecessors: 1 in a sequence, any number in
/// a tree.
struct LstmGatesAttr {
  double forget_bias;
  std::uint64_t children;
};

}  // namespace dynet
