#pragma once

#include "dynet-like/attributes/softmax.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    template <class T> void softmax_forward(const Batch<T>& b);
    template <class T> void softmax_backward(const GradientBatch<T>& b);

    template <class T> void log_softmax_forward(const Batch<T>& b);
    template <class T> void log_softmax_backward(const GradientBatch<T>& b);

    /// Log-sum-exp along the dimension in SoftmaxAttr.
    template <class T> void logsumexp_along_forward(const Batch<T>& b);
    template <class T> void logsumexp_along_backward(const GradientBatch<T>& b);

    template <class T> void class_loss_forward(const Batch<T>& b);
    template <class T> void class_loss_backward(const GradientBatch<T>& b);

)

}  // namespace dynet::cpu
