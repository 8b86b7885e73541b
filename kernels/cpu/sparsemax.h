#pragma once

#include "dynet-like/attributes/sparsemax.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Sparsemax: the Euclidean projection of each column onto the probability simplex. A column
    /// with all scores at minus infinity gets zeros.
    template <class T> void sparsemax_forward(const Batch<T>& b);
    template <class T> void sparsemax_backward(const GradientBatch<T>& b);

    template <class T> void sparsemax_loss_forward(const Batch<T>& b);
    template <class T> void sparsemax_loss_backward(const GradientBatch<T>& b);

    /// Softmax of the first operand with upper bounds of probabilities in the second.
    template <class T> void constrained_softmax_forward(const Batch<T>& b);
    template <class T> void constrained_softmax_backward(const GradientBatch<T>& b);

)

}  // namespace dynet::cpu
