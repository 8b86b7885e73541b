#pragma once

#include "dynet-like/graph/op.h"

namespace dynet::cpu {

/// The one number that some elementwise operations take.
struct UnaryAttr {
  double a;
};

// Each names y = f(x) and dy/dx; defined in unary.cc.
struct Negate;
struct AddConstant;    // x + a
struct ConstantMinus;  // a - x
struct Scale;          // a x
struct Tanh;
struct Logistic;
struct Rectify;
struct Exp;
struct Log;
struct Sqrt;
struct Square;
struct Cube;
struct Abs;
struct LogSigmoid;
struct Softsign;
struct Elu;  // a (e^x - 1) below zero

template <class F>
struct Unary {
  template <class T>
  static void forward(const Batch<T>& b);
  template <class T>
  static void backward(const GradientBatch<T>& b);
};

}  // namespace dynet::cpu
