#pragma once

#include "dynet-like/attributes/convolution.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Operands: an image, a filter and perhaps a bias.
    template <class T> void conv2d_forward(const Batch<T>& b);
    template <class T> void conv2d_backward(const GradientBatch<T>& b);

    template <class T> void maxpooling2d_forward(const Batch<T>& b);

    /// The k largest along a dimension; k is the size of the result.
    template <class T> void kmax_forward(const Batch<T>& b);

    /// For both: every element of the result keeps in the node's scratch which element of its line
    /// or image it is, and its gradient goes there.
    template <class T> void maxpooling2d_backward(const GradientBatch<T>& b);
    template <class T> void kmax_backward(const GradientBatch<T>& b);

)

}  // namespace dynet::cpu
