#pragma once

#include "dynet-like/attributes/inputs.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    DYNET_DECLARE_FORWARD(input_forward); DYNET_DECLARE_FORWARD(sparse_input_forward);
    DYNET_DECLARE_FORWARD(constant_forward); DYNET_DECLARE_FORWARD(one_hot_forward);

)

}  // namespace dynet::cpu
