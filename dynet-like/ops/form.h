#pragma once

#include "dynet-like/base/each_isa.h"
#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/graph/op.h"

/// A kernel in both precisions, as a form field. It is named as a member of `cpu`, an
/// alias of each instruction set's namespace in turn; double precision uses the baseline set only.
#define DYNET_FORWARD(...) DYNET_KERNELS(Forward, __VA_ARGS__)
/// A backward kernel in both precisions.
#define DYNET_BACKWARD(...) DYNET_KERNELS(Backward, __VA_ARGS__)
#define DYNET_KERNELS(KIND, ...)                                            \
  ::dynet::KIND {                                                           \
    DYNET_PER_ISA(::dynet::KIND##Kernel<float>, __VA_ARGS__),               \
        DYNET_VERSION(baseline, ::dynet::KIND##Kernel<double>, __VA_ARGS__) \
  }

namespace dynet {

/// For forms without a kernel: the executor provides the value, or the gradient stops.
inline constexpr Forward kNoForward{nullptr, nullptr};
inline constexpr Backward kNoBackward{nullptr, nullptr};

/// Scratch of so many numbers for each element of the value.
template <std::size_t Numbers>
std::size_t for_each_element(const GraphStore&, const Node& n) {
  return Numbers * n.dim.size();
}

/// Sequences of any length run together: the columns of operand 0, and those of the value with it.
inline constexpr BatchRule kAnyLength =
    BatchRule::sequences({.rows = 0, .cols = Ragged::operand(0)});
inline constexpr BatchRule kAnyLengthOfValue =
    BatchRule::sequences({.rows = 0, .cols = Ragged::operand(0) | Ragged::kValue});

/// The forms of one header of operations.
using OpFamily = std::span<const OpForm* const>;

}  // namespace dynet
