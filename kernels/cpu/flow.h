#pragma once

#include "dynet-like/attributes/flow.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Gradient of an identity node, times a factor.
    DYNET_DECLARE_BACKWARD(scale_gradient_backward);

    /// One at the first maximum along a dimension, zero elsewhere.
    DYNET_DECLARE_FORWARD(argmax_forward);

)

}  // namespace dynet::cpu
