#pragma once

#include "dynet-like/graph/op.h"

namespace dynet::cpu {

/// The one number that some elementwise operations take.
struct UnaryAttr {
  double a;
};

// Each names y = f(x) and dy/dx; defined in unary.cc. What backward reads is in ops/elementwise.cc.
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
struct Elu;   // a (e^x - 1) below zero
struct Silu;  // x / (1 + e^(-a x))
struct Erf;
struct LogGamma;
struct Sin;
struct Cos;
struct Tan;
struct Asin;
struct Acos;
struct Atan;
struct Sinh;
struct Cosh;
struct Asinh;
struct Acosh;
struct Atanh;
struct Round;  // with a as the gradient, as the next two
struct Ceil;
struct Floor;
struct Huber;  // x^2 / 2 up to a, a (|x| - a / 2) beyond

/// The number of a batch of them, zero for those that take none.
template <class T>
T parameter_of(const Batch<T>& b) {
  return b.node(0).form->batch.value.signature_bytes
             ? static_cast<T>(b.template attr<UnaryAttr>().a)
             : T(0);
}

template <class F>
struct Unary {
  template <class T>
  static void forward(const Batch<T>& b);
  template <class T>
  static void backward(const GradientBatch<T>& b);
};

}  // namespace dynet::cpu
