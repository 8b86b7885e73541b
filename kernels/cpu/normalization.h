#pragma once

#include "dynet-like/attributes/normalization.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Operands: values, gain, bias.
    template <class T> void layer_norm_forward(const Batch<T>& b);
    template <class T> void layer_norm_backward(const GradientBatch<T>& b);

)

}  // namespace dynet::cpu
