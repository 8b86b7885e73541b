#pragma once

#include "dynet-like/attributes/recurrent.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/bf16_product.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// All steps of an LSTM: h as the first result, c as the second; operands: the sums of the
    /// gates without the previous outputs, the matrix of these, and perhaps the initial h and c.
    /// Scratch: c, tanh(c) and the gates.
    DYNET_DECLARE_PAIR(lstm_sequence);

)

#ifdef DYNET_HAS_BF16
namespace DYNET_ISA {
/// The same with factors rounded to bf16.
template <class T>
void lstm_sequence_bf16_forward(const Batch<T>& b);
template <class T>
void lstm_sequence_bf16_backward(const GradientBatch<T>& b);
}  // namespace DYNET_ISA
#endif

}  // namespace dynet::cpu
