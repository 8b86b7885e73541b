#pragma once

#include "dynet-like/attributes/normalization.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Operands: values, gain, bias.
    DYNET_DECLARE_PAIR(layer_norm);

)

}  // namespace dynet::cpu
