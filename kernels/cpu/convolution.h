#pragma once

#include "dynet-like/attributes/convolution.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Operands: an image, a filter and optionally a bias.
    DYNET_DECLARE_PAIR(conv2d);

    template <class T> void maxpooling2d_forward(const Batch<T>& b);

    /// The k largest elements along a dimension, where k is the size of the result.
    template <class T> void kmax_forward(const Batch<T>& b);

    /// Gradients of both: forward stores in the node's scratch the index of each result's element
    /// within its line or image, and the gradient is added there.
    template <class T> void maxpooling2d_backward(const GradientBatch<T>& b);
    template <class T> void kmax_backward(const GradientBatch<T>& b);

)

}  // namespace dynet::cpu
