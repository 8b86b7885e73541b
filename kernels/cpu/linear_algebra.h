#pragma once

#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    DYNET_DECLARE_PAIR(inverse); DYNET_DECLARE_PAIR(logdet);

    DYNET_DECLARE_PAIR(circ_conv); DYNET_DECLARE_PAIR(circ_corr);

)

}  // namespace dynet::cpu
