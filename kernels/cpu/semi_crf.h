#pragma once

#include "dynet-like/graph/op.h"
#include "dynet-like/structures/semi_crf/attributes.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Log-partition: the log of the sum of e^score over all segmentations.
    DYNET_DECLARE_STRUCT(SemiCrfLogPartition);

    /// Log-probability of the segments of SemiCrfAttr.
    DYNET_DECLARE_STRUCT(SemiCrfLogProb);

    /// Probability of each segment.
    DYNET_DECLARE_STRUCT(SemiCrfMarginals);

    /// Entropy of the distribution over segmentations.
    DYNET_DECLARE_STRUCT(SemiCrfEntropy);

)

}  // namespace dynet::cpu
