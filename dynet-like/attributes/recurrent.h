#pragma once

#include <cstdint>

namespace dynet {

/// Attributes of LSTM gates and cells with `children` predecessors: 1 in a sequence, any number in
/// a tree.
struct LstmGatesAttr {
  double forget_bias;
  std::uint64_t children;
};

/// Attributes of an LSTM over a whole sequence.
struct LstmSequenceAttr {
  double forget_bias;
  std::uint64_t reverse;  ///< whether the last column is the first step
};

}  // namespace dynet
