#pragma once

#include "dynet-like/attributes/losses.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Sum over all classes j other than the right class i of max(0, margin - x_i + x_j), zero for
    /// x_j = -infinity. `A` is HingeAttr or HingeDimAttr.
    template <class A> DYNET_DECLARE_STRUCT(Hinge);

    DYNET_DECLARE_PAIR(poisson);

)

}  // namespace dynet::cpu
