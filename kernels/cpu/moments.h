#pragma once

#include "dynet-like/attributes/moments.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// The sum of x^power over the dimensions, divided.
    template <class T> void moment_forward(const Batch<T>& b);
    template <class T> void moment_backward(const GradientBatch<T>& b);

    /// The root of the sum of (x - m)^2, divided, where m is the sum of x, divided; gradient 0 at
    /// 0.
    template <class T> void deviation_forward(const Batch<T>& b);
    template <class T> void deviation_backward(const GradientBatch<T>& b);

    /// The largest or smallest element along a dimension; the first of several equal ones gets the
    /// gradient.
    template <bool kLargest> struct ExtremeAlong {
      template <class T>
      static void forward(const Batch<T>& b);
      template <class T>
      static void backward(const GradientBatch<T>& b);
    };

    /// The sums of the first 1, 2, ... elements along a dimension.
    template <class T> void cumulative_sum_forward(const Batch<T>& b);
    template <class T> void cumulative_sum_backward(const GradientBatch<T>& b);

)

}  // namespace dynet::cpu
