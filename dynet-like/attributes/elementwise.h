#pragma once

#include "dynet-like/graph/op.h"

namespace dynet {

/// The one number that some elementwise operations take.
struct ElementwiseAttr {
  double a;
};

/// The number of a batch of them, zero for those that take none.
template <class T>
T parameter_of(const Batch<T>& b) {
  return b.node(0).form->batch.value.signature_bytes
             ? static_cast<T>(b.template attr<ElementwiseAttr>().a)
             : T(0);
}

}  // namespace dynet

// The functions y = f(x) of the family, with a number a where one is named; each device defines
// them in its elementwise.{cc,cu}, and what backward reads is in ops/elementwise.cc:
//
//   AddConstant x + a, ConstantMinus a - x, Scale a x, Elu a (e^x - 1) below zero,
//   Silu x / (1 + e^(-a x)), Round, Ceil, Floor with a as the gradient,
//   Huber x^2 / 2 up to a and a (|x| - a / 2) beyond.
// clang-format off
#define DYNET_ELEMENTWISE_FUNCTIONS(X) \
  X(Negate) X(AddConstant) X(ConstantMinus) X(Scale) X(Tanh) X(Logistic) X(Rectify) X(Exp) \
  X(Log) X(Sqrt) X(Square) X(Cube) X(Abs) X(LogSigmoid) X(Softsign) X(Elu) X(Silu) X(Erf) \
  X(LogGamma) X(Sin) X(Cos) X(Tan) X(Asin) X(Acos) X(Atan) X(Sinh) X(Cosh) X(Asinh) X(Acosh) \
  X(Atanh) \
  X(Round) X(Ceil) X(Floor) X(Huber)
// clang-format on
