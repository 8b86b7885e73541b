#pragma once

#include <initializer_list>
#include <vector>

#include "dynet-like/graph/computation_graph.h"

// Products. Batch sizes are equal, or one in either operand; the result has the larger batch size.
// Errors: ShapeError.

namespace dynet {

/// The matrix product: {m,k} times {k,n} gives {m,n}, {m,k} times {k} gives {m}.
Expression operator*(LocatedExpression x, const Expression& y);

/// b + W1 x1 + W2 x2 + ..., summed from left to right; b is {m}, or {m,n} like the products. In a
/// recurrence, all products before the first one that depends on the previous state are batched
/// over all time steps: W x before U h is faster than after it.
Expression affine_transform(std::initializer_list<Expression> xs,
                            SourceLocation at = SourceLocation::current());
Expression affine_transform(const std::vector<Expression>& xs,
                            SourceLocation at = SourceLocation::current());

/// {m,n} plus the vector {m} on every column.
Expression colwise_add(const Expression& x, const Expression& bias,
                       SourceLocation at = SourceLocation::current());

/// sum_i x_i y_i: {1} for each batch element.
Expression dot_product(const Expression& x, const Expression& y,
                       SourceLocation at = SourceLocation::current());
/// The trace of x y' for matrices of equal sizes, sum_ij x_ij y_ij: {1} for each batch element.
Expression trace_of_product(const Expression& x, const Expression& y,
                            SourceLocation at = SourceLocation::current());
/// sum_i (x_i - y_i)^2: {1} for each batch element.
Expression squared_distance(const Expression& x, const Expression& y,
                            SourceLocation at = SourceLocation::current());
/// -sum_i (y_i log x_i + (1 - y_i) log(1 - x_i)): {1} for each batch element; x and targets y in
/// [0, 1]. Logarithms and divisors are clamped at the smallest normal float.
Expression binary_log_loss(const Expression& x, const Expression& y,
                           SourceLocation at = SourceLocation::current());

}  // namespace dynet
