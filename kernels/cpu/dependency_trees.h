#pragma once

#include "dynet-like/graph/op.h"
#include "dynet-like/structures/dependency_trees/attributes.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Log-partition: the log of the sum of e^score over all trees.
    DYNET_DECLARE_STRUCT(DependencyLogPartition);

    /// Log-probability of the trees of DependencyHeadsAttr.
    DYNET_DECLARE_STRUCT(DependencyLogProb);

    /// Probability of each arc.
    DYNET_DECLARE_STRUCT(DependencyMarginals);

    /// Entropy of the distribution over trees.
    DYNET_DECLARE_STRUCT(DependencyEntropy);

)

}  // namespace dynet::cpu
