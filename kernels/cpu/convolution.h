#pragma once

#include "dynet-like/attributes/convolution.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Operands: an image, a filter and optionally a bias.
    DYNET_DECLARE_PAIR(conv2d);

    DYNET_DECLARE_FORWARD(maxpooling2d_forward);

    /// The k largest elements along a dimension, where k is the size of the result.
    DYNET_DECLARE_FORWARD(kmax_forward);

    /// Gradients of both: forward stores in the node's scratch the index of each result's element
    /// within its line or image, and the gradient is added there.
    DYNET_DECLARE_BACKWARD(maxpooling2d_backward); DYNET_DECLARE_BACKWARD(kmax_backward);

)

}  // namespace dynet::cpu
