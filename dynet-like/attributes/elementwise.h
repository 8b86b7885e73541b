#pragma once

#include "dynet-like/graph/op.h"

namespace dynet {

/// The number of an elementwise operation. For arithmetic operators with a constant it is no batch
/// attribute, so nodes with different constants, such as weights of a loss, run in one batch.
struct ElementwiseAttr {
  double a;
};

}  // namespace dynet

// The functions y = f(x) of the family, with a number a where one is named; each device defines
// them in its elementwise.{cc,cu}, and what backward reads is in ops/elementwise.cc:
//
//   AddConstant x + a, ConstantMinus a - x, Scale a x, Elu a (e^x - 1) below zero,
//   Silu x / (1 + e^(-a x)), Round, Ceil, Floor with a as the gradient,
//   Huber x^2 / 2 up to a and a (|x| - a / 2) beyond.
// clang-format off
#define DYNET_ELEMENTWISE_WITH_NUMBER(X) \
  X(AddConstant) X(ConstantMinus) X(Scale) X(Elu) X(Silu) X(Round) X(Ceil) X(Floor) X(Huber)
#define DYNET_ELEMENTWISE_FUNCTIONS(X) \
  DYNET_ELEMENTWISE_WITH_NUMBER(X) \
  X(Negate) X(Tanh) X(Logistic) X(Rectify) X(Exp) X(Log) X(Sqrt) X(Square) X(Cube) X(Abs) \
  X(LogSigmoid) X(Softsign) X(Erf) X(LogGamma) X(Sin) X(Cos) X(Tan) X(Asin) X(Acos) X(Atan) \
  X(Sinh) X(Cosh) X(Asinh) X(Acosh) X(Atanh)
// clang-format on
