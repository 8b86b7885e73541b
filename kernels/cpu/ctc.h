#pragma once

#include "dynet-like/graph/op.h"
#include "dynet-like/structures/ctc/attributes.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// CTC loss: minus the log of the sum of e^score over all alignments of the labels of CtcAttr.
    DYNET_DECLARE_STRUCT(CtcLoss);

    /// Probability of each symbol at each frame, given the labels.
    DYNET_DECLARE_STRUCT(CtcAlignment);

    /// Entropy of the distribution over alignments, given the labels.
    DYNET_DECLARE_STRUCT(CtcEntropy);

)

}  // namespace dynet::cpu
