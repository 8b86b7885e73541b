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

/// The forms of one header of operations.
using OpFamily = std::span<const OpForm* const>;

}  // namespace dynet
