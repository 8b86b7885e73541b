#pragma once

#include <cstddef>

namespace dynet {

/// Counts and memory of the last passes over a graph.
struct GraphStatistics {
  std::size_t nodes = 0;
  std::size_t batches = 0;  ///< kernel calls of the forward pass
  std::size_t value_bytes = 0;
  std::size_t gradient_bytes = 0;  ///< of expressions, without those of parameters
  const char* isa = "";            ///< instruction set of the CPU kernels, see isa_name
};

}  // namespace dynet
