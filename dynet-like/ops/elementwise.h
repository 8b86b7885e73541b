#pragma once

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/ops/gradient_mode.h"

// Elementwise functions of one operand. The result has the operand's shape, its batch included.
//
// Values and gradients have a relative error below 1e-6 over the whole range of float; subnormal
// results may be zero. Exceptions state the number that the error is relative to. The bits of an
// element depend on the element alone, not on its position, the batch or the number of threads.

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

/// (e^x - e^-x) / (e^x + e^-x). Backward reads the value only: the error of the gradient is
/// relative to 1, its maximum.
Expression tanh(const Expression& x, SourceLocation at = SourceLocation::current());
/// 1 / (1 + e^-x). Backward reads the value only: for x > 0 the error of the gradient is relative
/// to 1/4, its maximum. log_sigmoid computes the logarithm without underflow below -88.
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
/// 2 / sqrt(pi) times the integral of e^-t^2 from 0 to x.
Expression erf(const Expression& x, SourceLocation at = SourceLocation::current());
/// log |Gamma(x)|. Gradients below 0.1 have an error relative to 0.1.
Expression lgamma(const Expression& x, SourceLocation at = SourceLocation::current());
/// Sine, cosine and tangent of an angle in radians.
Expression sin(const Expression& x, SourceLocation at = SourceLocation::current());
Expression cos(const Expression& x, SourceLocation at = SourceLocation::current());
Expression tan(const Expression& x, SourceLocation at = SourceLocation::current());
/// Inverses of sine, cosine and tangent: asin in [-pi/2, pi/2] and acos in [0, pi], of x in [-1,
/// 1]; atan in (-pi/2, pi/2).
Expression asin(const Expression& x, SourceLocation at = SourceLocation::current());
Expression acos(const Expression& x, SourceLocation at = SourceLocation::current());
Expression atan(const Expression& x, SourceLocation at = SourceLocation::current());
/// (e^x - e^-x) / 2
Expression sinh(const Expression& x, SourceLocation at = SourceLocation::current());
/// (e^x + e^-x) / 2
Expression cosh(const Expression& x, SourceLocation at = SourceLocation::current());
/// Inverses of sinh, of cosh (x >= 1) and of tanh (x in (-1, 1)).
Expression asinh(const Expression& x, SourceLocation at = SourceLocation::current());
Expression acosh(const Expression& x, SourceLocation at = SourceLocation::current());
Expression atanh(const Expression& x, SourceLocation at = SourceLocation::current());
/// x above zero, alpha (e^x - 1) below. Clevert et al. 2016.
Expression elu(const Expression& x, float alpha = 1.0f,
               SourceLocation at = SourceLocation::current());
/// 1.0507 elu(x, 1.67326), which keeps mean 0 and variance 1. Klambauer et al. 2017.
Expression selu(const Expression& x, SourceLocation at = SourceLocation::current());
/// x / (1 + e^(-beta x)). Near beta x = -1.28, where the gradient is zero, its error is relative to
/// 0.02. Elfwing et al. 2017; Ramachandran et al. 2017.
Expression silu(const Expression& x, float beta = 1.0f,
                SourceLocation at = SourceLocation::current());

/// The nearest integer, halves away from zero; the least integer not below x; the largest integer
/// not above x. `mode` selects the gradient.
Expression round(const Expression& x, GradientMode mode,
                 SourceLocation at = SourceLocation::current());
Expression ceil(const Expression& x, GradientMode mode,
                SourceLocation at = SourceLocation::current());
Expression floor(const Expression& x, GradientMode mode,
                 SourceLocation at = SourceLocation::current());

}  // namespace dynet
