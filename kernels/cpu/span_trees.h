#pragma once

#include "dynet-like/graph/op.h"
#include "dynet-like/structures/span_trees/attributes.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Log-partition: the log of the sum of e^score over all labelled binary trees.
    DYNET_DECLARE_STRUCT(SpanLogPartition);

    /// Log-probability of the trees of SpanTreeAttr.
    DYNET_DECLARE_STRUCT(SpanLogProb);

    /// Probability of each label of each span.
    DYNET_DECLARE_STRUCT(SpanMarginals);

    /// Entropy of the distribution over trees.
    DYNET_DECLARE_STRUCT(SpanEntropy);

)

}  // namespace dynet::cpu
