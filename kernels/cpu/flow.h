#pragma once

#include "dynet-like/attributes/flow.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// The gradient of a node that is its operand, times a factor.
    template <class T> void scale_gradient_backward(const GradientBatch<T>& b);

    /// One at the largest element along a dimension, the first of several, zero elsewhere.
    template <class T> void argmax_forward(const Batch<T>& b);

)

}  // namespace dynet::cpu
