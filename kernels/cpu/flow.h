#pragma once

#include "dynet-like/attributes/flow.h"
#include "dynet-like/graph/op.h"

namespace dynet::cpu {

template <class T>
void scale_gradient_backward(const GradientBatch<T>& b);

template <class T>
void argmax_forward(const Batch<T>& b);

}  // namespace dynet::cpu
