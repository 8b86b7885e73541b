#pragma once

#include "dynet-like/attributes/selection.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    DYNET_DECLARE_PAIR(pick); DYNET_DECLARE_PAIR(pick_batch);
    /// Slices of all indices, identical for all batch elements.
    DYNET_DECLARE_PAIR(select);

    DYNET_DECLARE_PAIR(strided_select);

    DYNET_DECLARE_PAIR(pick_range);

    /// Gradient of a node that aliases its operand with another shape.
    DYNET_DECLARE_BACKWARD(alias_backward);

    DYNET_DECLARE_PAIR(transpose);

    DYNET_DECLARE_PAIR(concatenate); DYNET_DECLARE_PAIR(concatenate_batch);

)

}  // namespace dynet::cpu
