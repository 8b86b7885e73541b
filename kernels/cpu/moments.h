#pragma once

#include "dynet-like/attributes/moments.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Sum of x^power over the dimensions, over the divisor.
    template <class T> void moment_forward(const Batch<T>& b);
    template <class T> void moment_backward(const GradientBatch<T>& b);

    /// Square root of the sum of (x - m)^2 over the divisor, where m is the sum of x over the
    /// divisor; the gradient at 0 is 0.
    template <class T> void deviation_forward(const Batch<T>& b);
    template <class T> void deviation_backward(const GradientBatch<T>& b);

    /// Maximum or minimum along a dimension; the gradient goes to the first of several equal
    /// elements.
    template <bool kLargest> struct ExtremeAlong {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

    /// Cumulative sum along a dimension.
    template <class T> void cumulative_sum_forward(const Batch<T>& b);
    template <class T> void cumulative_sum_backward(const GradientBatch<T>& b);

)

}  // namespace dynet::cpu
