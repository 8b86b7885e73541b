#pragma once

#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    template <class T> void inverse_forward(const Batch<T>& b);
    template <class T> void inverse_backward(const GradientBatch<T>& b);
    template <class T> void logdet_forward(const Batch<T>& b);
    template <class T> void logdet_backward(const GradientBatch<T>& b);

    template <class T> void circ_conv_forward(const Batch<T>& b);
    template <class T> void circ_conv_backward(const GradientBatch<T>& b);
    template <class T> void circ_corr_forward(const Batch<T>& b);
    template <class T> void circ_corr_backward(const GradientBatch<T>& b);

)

}  // namespace dynet::cpu
