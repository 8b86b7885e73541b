#pragma once

#include "dynet-like/base/each_isa.h"
#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/graph/op.h"

/// Field of a form for a forward kernel template, in both precisions. The template is named as a
/// member of `cpu`, which stands for the namespace of each instruction set; double has one kernel
/// for all.
#define DYNET_FORWARD(...) DYNET_KERNELS(Forward, __VA_ARGS__)
/// Field of a form for a backward kernel template, named as in DYNET_FORWARD.
#define DYNET_BACKWARD(...) DYNET_KERNELS(Backward, __VA_ARGS__)
#define DYNET_KERNELS(KIND, ...)                                                    \
  ::dynet::KIND {                                                                   \
    DYNET_PER_ISA(::dynet::KIND##Kernel<float>, __VA_ARGS__<float>),                \
        DYNET_VERSION(baseline, ::dynet::KIND##Kernel<double>, __VA_ARGS__<double>) \
  }

namespace dynet {

/// For forms whose value the executor provides, or whose operands get no gradient by a kernel.
inline constexpr Forward kNoForward{nullptr, nullptr};
inline constexpr Backward kNoBackward{nullptr, nullptr};

/// The forms of one header of operations.
using OpFamily = std::span<const OpForm* const>;

}  // namespace dynet
