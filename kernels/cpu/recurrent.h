#pragma once

#include "dynet-like/graph/op.h"

namespace dynet::cpu {

struct LstmGatesAttr {
  double forget_bias;
};

/// {4H} sums to gates: i, f, o through the logistic function (f after adding the forget bias), g
/// through tanh.
template <class T>
void lstm_activate_forward(const Batch<T>& b);
template <class T>
void lstm_activate_backward(const GradientBatch<T>& b);
/// c' = i g + f c
template <class T>
void lstm_cell_forward(const Batch<T>& b);
template <class T>
void lstm_cell_backward(const GradientBatch<T>& b);
/// h = o tanh(c)
template <class T>
void lstm_output_forward(const Batch<T>& b);
template <class T>
void lstm_output_backward(const GradientBatch<T>& b);

}  // namespace dynet::cpu
