#pragma once

#include "dynet-like/attributes/losses.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// The sum over all classes j but the right one i of max(0, margin - x_i + x_j), where minus
    /// infinity as x_j gives zero. `A` is HingeAttr or HingeDimAttr.
    template <class A> struct Hinge {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

    template <class T> void poisson_forward(const Batch<T>& b);
    template <class T> void poisson_backward(const GradientBatch<T>& b);

)

}  // namespace dynet::cpu
