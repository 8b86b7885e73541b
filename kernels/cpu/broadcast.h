#pragma once

#include "dynet-like/attributes/broadcast.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

// Tags of y = f(a, b) and its partial derivatives; defined in broadcast.cc.
struct Subtract;
struct Multiply;
struct Divide;
struct Power;

DYNET_EACH_ISA(

    template <class F> DYNET_DECLARE_STRUCT(Binary);

    /// Sum of any number of operands, broadcast, times a constant.
    DYNET_DECLARE_PAIR(sum);

    /// Maximum or minimum of any number of operands, broadcast; the gradient goes to the first of
    /// several equal operands.
    template <bool kLargest> DYNET_DECLARE_STRUCT(Extreme);

    /// Log-sum-exp of any number of operands, broadcast.
    DYNET_DECLARE_PAIR(logsumexp);

)

}  // namespace dynet::cpu
