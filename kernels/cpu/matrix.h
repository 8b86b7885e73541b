#pragma once

#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

/// Kernels of an operation that round factors.
template <class T>
struct RoundedKernels {
  ForwardKernel<T> forward;
  BackwardKernel<T> backward;
};

DYNET_EACH_ISA(

    /// y = bias + W1 x1 + W2 x2 + ..., per batch element; or without the bias.
    DYNET_DECLARE_PAIR(affine);

    /// lstm_cell of such a sum; operands: the K cells, then those of the sum.
    DYNET_DECLARE_PAIR(lstm_step);

    /// class_loss of such a sum. Scratch: the sum, then that of class_loss.
    DYNET_DECLARE_PAIR(linear_cross_entropy);

    /// bf16 versions of a forward kernel and its backward kernel, which use dedicated instructions;
    /// null without such instructions, and for kernels without a bf16 version.
    template <class T> const RoundedKernels<T>* bf16_kernels(ForwardKernel<T> exact);

)

}  // namespace dynet::cpu
