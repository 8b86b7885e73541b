#pragma once

#include <cstdint>

#include "dynet-like/attributes/recurrent.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Activates {(3+K)H} sums into gates: i, f_1 ... f_K, o by the logistic function (the f_k
    /// after adding the forget bias), g by tanh.
    template <class T> void lstm_activate_forward(const Batch<T>& b);
    template <class T> void lstm_activate_backward(const GradientBatch<T>& b);
    /// c = i g + sum_k f_k c_k; operands: the K cells and the gates.
    template <class T> void lstm_cell_forward(const Batch<T>& b);
    template <class T> void lstm_cell_backward(const GradientBatch<T>& b);
    /// h = o tanh(c)
    template <class T> void lstm_output_forward(const Batch<T>& b);
    template <class T> void lstm_output_backward(const GradientBatch<T>& b);

)

}  // namespace dynet::cpu
