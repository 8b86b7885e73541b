#pragma once

#include "dynet-like/attributes/attention.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Averages of values, weighted by the softmax of query-key products.
    DYNET_DECLARE_STRUCT(Attention);

)

}  // namespace dynet::cpu
