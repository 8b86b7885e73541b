#pragma once

#include <initializer_list>
#include <vector>

#include "dynet-like/graph/computation_graph.h"

// Elementwise operations of several operands, all under one rule: each size, and the batch size, is
// equal or one on either side; missing sizes are one; what is one repeats. Errors: ShapeError.

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
/// The larger element; ties send the gradient to x.
Expression max(const Expression& x, const Expression& y,
               SourceLocation at = SourceLocation::current());
/// The smaller element; ties send the gradient to x.
Expression min(const Expression& x, const Expression& y,
               SourceLocation at = SourceLocation::current());

/// x1 + x2 + ...
Expression sum(std::initializer_list<Expression> xs, SourceLocation at = SourceLocation::current());
Expression sum(const std::vector<Expression>& xs, SourceLocation at = SourceLocation::current());
/// (x1 + x2 + ... + xn) / n
Expression average(std::initializer_list<Expression> xs,
                   SourceLocation at = SourceLocation::current());
Expression average(const std::vector<Expression>& xs,
                   SourceLocation at = SourceLocation::current());

}  // namespace dynet
