#pragma once

#include "dynet-like/graph/op.h"
#include "dynet-like/structures/semi_crf/attributes.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// The logarithm of the sum of e^score over all ways to cut a sequence into segments.
    struct SemiCrfLogPartition {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

    /// The log-probability of the segments of SemiCrfAttr.
    struct SemiCrfLogProb {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

    /// The probability of each segment.
    struct SemiCrfMarginals {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

    /// The entropy of the distribution over ways to cut.
    struct SemiCrfEntropy {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

)

}  // namespace dynet::cpu
