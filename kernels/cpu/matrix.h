#pragma once

#include "dynet-like/base/packed_matrices.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

/// Kernels that keep matrices packed. Which must stay as they are until that is cleared: those of
/// parameters, and transposed ones.
template <class T>
struct PackingKernels {
  void (*forward)(const Batch<T>&, PackedMatrices&);
  void (*backward)(const GradientBatch<T>&, PackedMatrices&);
};

DYNET_EACH_ISA(

    /// y = W x, for each batch element.
    template <class T> void matmul_forward(const Batch<T>& b);
    template <class T> void matmul_backward(const GradientBatch<T>& b);

    /// y = bias + W1 x1 + W2 x2 + ...
    template <class T> void affine_forward(const Batch<T>& b);
    template <class T> void affine_backward(const GradientBatch<T>& b);

    /// Kernels for one of these forward kernels, and its backward kernel, with factors rounded to
    /// bf16 by dedicated instructions; null without such instructions, or for another kernel.
    template <class T> const PackingKernels<T>* bf16_kernels(ForwardKernel<T> exact);

)

}  // namespace dynet::cpu
