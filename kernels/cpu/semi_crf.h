#pragma once

#include "dynet-like/graph/op.h"
#include "dynet-like/structures/semi_crf/attributes.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Log-partition: the log of the sum of e^score over all segmentations.
    struct SemiCrfLogPartition {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

    /// Log-probability of the segments of SemiCrfAttr.
    struct SemiCrfLogProb {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

    /// Probability of each segment.
    struct SemiCrfMarginals {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

    /// Entropy of the distribution over segmentations.
    struct SemiCrfEntropy {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

)

}  // namespace dynet::cpu
