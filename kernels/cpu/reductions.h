#pragma once

#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

// Tags of functions of all elements of a batch element, and their gradients; defined in
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

    /// Sum or mean of the batch elements.
    template <bool kMean> struct ReduceBatches {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

)

}  // namespace dynet::cpu
