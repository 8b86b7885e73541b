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
    template <class T> void random_normal_forward(const Batch<T>& b);
    /// `second` with probability `first`, otherwise zero.
    template <class T> void random_bernoulli_forward(const Batch<T>& b);
    /// Uniform in [first, second).
    template <class T> void random_uniform_forward(const Batch<T>& b);
    /// first - second log(-log u) for u uniform in (0, 1).
    template <class T> void random_gumbel_forward(const Batch<T>& b);

)

}  // namespace dynet::cpu
