#pragma once

#include "dynet-like/graph/op.h"
#include "dynet-like/structures/crf/attributes.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Log-partition: the log of the sum of e^score over all tag sequences.
    DYNET_DECLARE_STRUCT(CrfLogPartition);

    /// Log-probability of the sequences that agree with the tags of CrfTagsAttr.
    DYNET_DECLARE_STRUCT(CrfLogProb);

    /// Marginal probability of each tag at each position.
    DYNET_DECLARE_STRUCT(CrfMarginals);

    /// Entropy of the distribution over sequences.
    DYNET_DECLARE_STRUCT(CrfEntropy);

)

}  // namespace dynet::cpu
