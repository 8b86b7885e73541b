#pragma once

#include <initializer_list>
#include <vector>

#include "dynet-like/graph/computation_graph.h"

// Products. Batch sizes are equal, or one on either side; the result has the larger. Errors:
// ShapeError.

namespace dynet {

/// The matrix product: {m,k} times {k,n} gives {m,n}, {m,k} times {k} gives {m}.
Expression operator*(LocatedExpression x, const Expression& y);

/// b + W1 x1 + W2 x2 + ...; b is {m}, or {m,n} as the products. The sum is made from left to right.
/// In a recurrence the products in front of the first that waits for its state are computed for all
/// steps together: W x before U h is faster than behind it.
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
/// The trace of x y' for matrices of the same sizes, sum_ij x_ij y_ij: {1} for each batch element.
Expression trace_of_product(const Expression& x, const Expression& y,
                            SourceLocation at = SourceLocation::current());
/// sum_i (x_i - y_i)^2: {1} for each batch element.
Expression squared_distance(const Expression& x, const Expression& y,
                            SourceLocation at = SourceLocation::current());
/// -sum_i (y_i log x_i + (1 - y_i) log(1 - x_i)): {1} for each batch element; x and targets y in
/// [0, 1]. Logarithms and divisors of numbers below the smallest normal float are of that one.
Expression binary_log_loss(const Expression& x, const Expression& y,
                           SourceLocation at = SourceLocation::current());

}  // namespace dynet
