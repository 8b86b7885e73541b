#pragma once

#include "dynet-like/graph/computation_graph.h"

// Elementwise functions of one operand. The result has the operand's shape, its batch included.

namespace dynet {

/// -x
Expression operator-(LocatedExpression x);
/// x + a, every element.
Expression operator+(LocatedExpression x, real a);
Expression operator+(real a, LocatedExpression x);
/// x - a
Expression operator-(LocatedExpression x, real a);
/// a - x
Expression operator-(real a, LocatedExpression x);
/// a x
Expression operator*(LocatedExpression x, float a);
Expression operator*(float a, LocatedExpression x);
/// x / a
Expression operator/(LocatedExpression x, float a);

/// (e^x - e^-x) / (e^x + e^-x)
Expression tanh(const Expression& x, SourceLocation at = SourceLocation::current());
/// 1 / (1 + e^-x)
Expression logistic(const Expression& x, SourceLocation at = SourceLocation::current());
/// max(x, 0); gradient 0 at 0.
Expression rectify(const Expression& x, SourceLocation at = SourceLocation::current());
/// e^x
Expression exp(const Expression& x, SourceLocation at = SourceLocation::current());
/// Natural logarithm.
Expression log(const Expression& x, SourceLocation at = SourceLocation::current());
/// Square root.
Expression sqrt(const Expression& x, SourceLocation at = SourceLocation::current());
/// x^2
Expression square(const Expression& x, SourceLocation at = SourceLocation::current());
/// x^3
Expression cube(const Expression& x, SourceLocation at = SourceLocation::current());
/// |x|; gradient 0 at 0.
Expression abs(const Expression& x, SourceLocation at = SourceLocation::current());
/// log(1 / (1 + e^-x)), without overflow.
Expression log_sigmoid(const Expression& x, SourceLocation at = SourceLocation::current());
/// x / (1 + |x|)
Expression softsign(const Expression& x, SourceLocation at = SourceLocation::current());
/// x above zero, alpha (e^x - 1) below. Clevert et al. 2016.
Expression elu(const Expression& x, float alpha = 1.0f,
               SourceLocation at = SourceLocation::current());

}  // namespace dynet
