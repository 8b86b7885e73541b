#pragma once

#include "dynet-like/graph/op.h"
#include "dynet-like/structures/ctc/attributes.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// CTC loss: minus the log of the sum of e^score over all alignments of the labels of CtcAttr.
    struct CtcLoss {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

    /// Probability of each symbol at each frame, given the labels.
    struct CtcAlignment {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

    /// Entropy of the distribution over alignments, given the labels.
    struct CtcEntropy {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

)

}  // namespace dynet::cpu
