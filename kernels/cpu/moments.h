#pragma once

#include "dynet-like/attributes/moments.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Sum of x^power over the dimensions, over the divisor.
    DYNET_DECLARE_PAIR(moment);

    /// Square root of the sum of (x - m)^2 over the divisor, where m is the sum of x over the
    /// divisor; the gradient at 0 is 0.
    DYNET_DECLARE_PAIR(deviation);

    /// Maximum or minimum along a dimension; the gradient goes to the first of several equal
    /// elements.
    template <bool kLargest> DYNET_DECLARE_STRUCT(ExtremeAlong);

    /// Cumulative sum along a dimension.
    DYNET_DECLARE_PAIR(cumulative_sum);

)

}  // namespace dynet::cpu
