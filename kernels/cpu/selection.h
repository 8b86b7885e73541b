#pragma once

#include "dynet-like/attributes/selection.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    template <class T> void pick_forward(const Batch<T>& b);
    template <class T> void pick_backward(const GradientBatch<T>& b);
    template <class T> void pick_batch_forward(const Batch<T>& b);
    template <class T> void pick_batch_backward(const GradientBatch<T>& b);
    /// Slices of all indices, identical for all batch elements.
    template <class T> void select_forward(const Batch<T>& b);
    template <class T> void select_backward(const GradientBatch<T>& b);

    template <class T> void strided_select_forward(const Batch<T>& b);
    template <class T> void strided_select_backward(const GradientBatch<T>& b);

    template <class T> void pick_range_forward(const Batch<T>& b);
    template <class T> void pick_range_backward(const GradientBatch<T>& b);

    /// Gradient of a node that aliases its operand with another shape.
    template <class T> void alias_backward(const GradientBatch<T>& b);

    template <class T> void transpose_forward(const Batch<T>& b);
    template <class T> void transpose_backward(const GradientBatch<T>& b);

    template <class T> void concatenate_forward(const Batch<T>& b);
    template <class T> void concatenate_backward(const GradientBatch<T>& b);
    template <class T> void concatenate_batch_forward(const Batch<T>& b);
    template <class T> void concatenate_batch_backward(const GradientBatch<T>& b);

)

}  // namespace dynet::cpu
