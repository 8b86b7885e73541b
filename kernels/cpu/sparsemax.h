#pragma once

#include "dynet-like/attributes/sparsemax.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// The probabilities that are closest to the scores of each column, many of them zero. A column
    /// without any score above minus infinity gets zeros.
    template <class T> void sparsemax_forward(const Batch<T>& b);
    template <class T> void sparsemax_backward(const GradientBatch<T>& b);

    template <class T> void sparsemax_loss_forward(const Batch<T>& b);
    template <class T> void sparsemax_loss_backward(const GradientBatch<T>& b);

    /// Softmax of the first operand, no probability above what the second one says.
    template <class T> void constrained_softmax_forward(const Batch<T>& b);
    template <class T> void constrained_softmax_backward(const GradientBatch<T>& b);

)

}  // namespace dynet::cpu
