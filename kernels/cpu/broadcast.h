#pragma once

#include "dynet-like/attributes/broadcast.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

// Tags of y = f(a, b) and its partial derivatives; defined in broadcast.cc.
struct Subtract;
struct Multiply;
struct Divide;
struct Power;

DYNET_EACH_ISA(

    template <class F> struct Binary {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

    /// Sum of any number of operands, broadcast, times a constant.
    template <class T> void sum_forward(const Batch<T>& b);
    template <class T> void sum_backward(const GradientBatch<T>& b);

    /// Maximum or minimum of any number of operands, broadcast; the gradient goes to the first of
    /// several equal operands.
    template <bool kLargest> struct Extreme {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

    /// Log-sum-exp of any number of operands, broadcast.
    template <class T> void logsumexp_forward(const Batch<T>& b);
    template <class T> void logsumexp_backward(const GradientBatch<T>& b);

)

}  // namespace dynet::cpu
