#pragma once

#include "dynet-like/attributes/attention.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Averages of values, weighted by the softmax of query-key products.
    struct Attention {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

)

}  // namespace dynet::cpu
