#pragma once

#include "dynet-like/attributes/softmax.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    DYNET_DECLARE_PAIR(softmax);

    DYNET_DECLARE_PAIR(log_softmax);

    /// Log-sum-exp along the dimension in SoftmaxAttr.
    DYNET_DECLARE_PAIR(logsumexp_along);

    /// The loss of scores: operand 0, or the sum of products that the node has computed before.
    DYNET_DECLARE_PAIR(class_loss);

)

}  // namespace dynet::cpu
