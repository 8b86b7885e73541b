#pragma once

#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

// Each names a function of all elements of a batch element and its gradient; defined in
// reductions.cc.
struct ElemsSum;
struct ElemsMean;
struct ElemsSquaredNorm;
struct ElemsNorm;

DYNET_EACH_ISA(

    template <class F> struct ReduceElems {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

    /// The sum of the batch elements, or their mean.
    template <bool kMean> struct ReduceBatches {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

)

}  // namespace dynet::cpu
