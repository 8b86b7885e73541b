#pragma once

#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

// Tags of functions of all elements of a batch element, and their gradients; defined in
// reductions.cc.
struct ElemsSum;
struct ElemsMean;
struct ElemsSquaredNorm;
struct ElemsNorm;

DYNET_EACH_ISA(

    template <class F> DYNET_DECLARE_STRUCT(ReduceElems);

    /// Sum or mean of the batch elements.
    template <bool kMean> DYNET_DECLARE_STRUCT(ReduceBatches);

)

}  // namespace dynet::cpu
