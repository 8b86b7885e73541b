#pragma once

#include "dynet-like/attributes/flow.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Gradient of an identity node, times a factor.
    template <class T> void scale_gradient_backward(const GradientBatch<T>& b);

    /// One at the first maximum along a dimension, zero elsewhere.
    template <class T> void argmax_forward(const Batch<T>& b);

)

}  // namespace dynet::cpu
