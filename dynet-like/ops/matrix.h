#pragma once

#include <initializer_list>
#include <vector>

#include "dynet-like/graph/computation_graph.h"

// Products. Batch sizes are equal, or one on either side; the result has the larger. Errors:
// ShapeError.

namespace dynet {

/// The matrix product: {m,k} times {k,n} gives {m,n}, {m,k} times {k} gives {m}.
Expression operator*(LocatedExpression x, const Expression& y);

/// b + W1 x1 + W2 x2 + ...; b is {m}, or {m,n} as the products. Terms are added from left to right.
/// In a recurrence, the products before the first one that depends on its state are batched over
/// all steps: W x before U h is faster than after it.
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
/// [0, 1]. Arguments of logarithms and divisors are at least the smallest normal float.
Expression binary_log_loss(const Expression& x, const Expression& y,
                           SourceLocation at = SourceLocation::current());

}  // namespace dynet
