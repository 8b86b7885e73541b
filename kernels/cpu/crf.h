#pragma once

#include "dynet-like/graph/op.h"
#include "dynet-like/structures/crf/attributes.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Log-partition: the log of the sum of e^score over all tag sequences.
    struct CrfLogPartition {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

    /// Log-probability of the sequences that agree with the tags of CrfTagsAttr.
    struct CrfLogProb {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

    /// Marginal probability of each tag at each position.
    struct CrfMarginals {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

    /// Entropy of the distribution over sequences.
    struct CrfEntropy {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

)

}  // namespace dynet::cpu
