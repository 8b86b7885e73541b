#pragma once

#include "dynet-like/attributes/sparsemax.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Sparsemax: the Euclidean projection of each column onto the probability simplex. A column
    /// with all scores at minus infinity gets zeros.
    DYNET_DECLARE_PAIR(sparsemax);

    DYNET_DECLARE_PAIR(sparsemax_loss);

    /// Softmax of the first operand with upper bounds of probabilities in the second.
    DYNET_DECLARE_PAIR(constrained_softmax);

)

}  // namespace dynet::cpu
