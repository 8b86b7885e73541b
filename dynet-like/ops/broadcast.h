#pragma once

#include <initializer_list>
#include <vector>

#include "dynet-like/graph/computation_graph.h"

// Elementwise operations of several operands, which broadcast: each size, and the batch size, is
// equal in all operands or one; missing sizes are one. Errors: ShapeError, and ArgumentError for an
// empty list.

namespace dynet {

/// x + y
Expression operator+(LocatedExpression x, const Expression& y);
/// x - y
Expression operator-(LocatedExpression x, const Expression& y);
/// x / y
Expression operator/(LocatedExpression x, const Expression& y);
/// x y, elementwise.
Expression cmult(const Expression& x, const Expression& y,
                 SourceLocation at = SourceLocation::current());
/// x / y
Expression cdiv(const Expression& x, const Expression& y,
                SourceLocation at = SourceLocation::current());
/// x to the power y. The gradient of y is zero where x is zero, and NaN where x is negative.
Expression pow(const Expression& x, const Expression& y,
               SourceLocation at = SourceLocation::current());

/// The largest element of all operands; the first of several equal ones gets the gradient.
Expression max(const Expression& x, const Expression& y,
               SourceLocation at = SourceLocation::current());
Expression max(std::initializer_list<Expression> xs, SourceLocation at = SourceLocation::current());
Expression max(const std::vector<Expression>& xs, SourceLocation at = SourceLocation::current());
/// The smallest element of all operands; the first of several equal ones gets the gradient.
Expression min(const Expression& x, const Expression& y,
               SourceLocation at = SourceLocation::current());
Expression min(std::initializer_list<Expression> xs, SourceLocation at = SourceLocation::current());
Expression min(const std::vector<Expression>& xs, SourceLocation at = SourceLocation::current());

/// x1 + x2 + ...
Expression sum(std::initializer_list<Expression> xs, SourceLocation at = SourceLocation::current());
Expression sum(const std::vector<Expression>& xs, SourceLocation at = SourceLocation::current());
/// (x1 + x2 + ... + xn) / n
Expression average(std::initializer_list<Expression> xs,
                   SourceLocation at = SourceLocation::current());
Expression average(const std::vector<Expression>& xs,
                   SourceLocation at = SourceLocation::current());
/// log(e^x1 + e^x2 + ... + e^xn), without overflow. Minus infinity if all operands are. Plus
/// infinity if one is, with a gradient of NaN for that operand and of zero for finite operands.
Expression logsumexp(std::initializer_list<Expression> xs,
                     SourceLocation at = SourceLocation::current());
Expression logsumexp(const std::vector<Expression>& xs,
                     SourceLocation at = SourceLocation::current());

}  // namespace dynet
