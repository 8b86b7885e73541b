#pragma once

#include "dynet-like/attributes/pairwise.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

/// sum of x y, of (x - y)^2, of -(y log x + (1 - y) log(1 - x)), per batch element.
struct DotProduct;
struct SquaredDistance;
struct BinaryLogLoss;

DYNET_EACH_ISA(

    template <class F> DYNET_DECLARE_STRUCT(Pairwise);

)

}  // namespace dynet::cpu
