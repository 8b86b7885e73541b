#pragma once

#include "dynet-like/attributes/noise.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    DYNET_DECLARE_PAIR(dropout);

    DYNET_DECLARE_PAIR(shared_dropout);

    DYNET_DECLARE_PAIR(noise);

    /// Gaussian with mean `first` and standard deviation `second`.
    DYNET_DECLARE_FORWARD(random_normal_forward);
    /// `second` with probability `first`, otherwise zero.
    DYNET_DECLARE_FORWARD(random_bernoulli_forward);
    /// Uniform in [first, second).
    DYNET_DECLARE_FORWARD(random_uniform_forward);
    /// first - second log(-log u) for u uniform in (0, 1).
    DYNET_DECLARE_FORWARD(random_gumbel_forward);

)

}  // namespace dynet::cpu
