#pragma once

#include "dynet-like/graph/op.h"

namespace dynet::cpu {

// Each names y = f(a, b) and its two partial derivatives; defined in broadcast.cc.
struct Subtract;
struct Multiply;
struct Divide;
struct Max;
struct Min;

template <class F>
struct Binary {
  template <class T>
  static void forward(const Batch<T>& b);
  template <class T>
  static void backward(const GradientBatch<T>& b);
};

/// The sum of any number of operands, broadcast, times a constant.
struct SumAttr {
  double scale;
};
template <class T>
void sum_forward(const Batch<T>& b);
template <class T>
void sum_backward(const GradientBatch<T>& b);

}  // namespace dynet::cpu
