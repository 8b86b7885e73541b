#pragma once

#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// y = W x, for each batch element.
    template <class T> void matmul_forward(const Batch<T>& b);
    template <class T> void matmul_backward(const GradientBatch<T>& b);

    /// y = bias + W1 x1 + W2 x2 + ...
    template <class T> void affine_forward(const Batch<T>& b);
    template <class T> void affine_backward(const GradientBatch<T>& b);

)

}  // namespace dynet::cpu
