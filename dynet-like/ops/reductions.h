#pragma once

#include <vector>

#include "dynet-like/graph/computation_graph.h"

// Reductions over elements, dimensions and batch elements. A mean, moment, deviation or extreme of
// no elements throws ShapeError; a dimension that x does not have IndexError; a dimension given
// twice, or a power of 0, ArgumentError. Means, deviations and l2_norm are right if the result is
// in the range of float, even if sums and squares of the elements are not.
//
// With an infinite element sums, means, moments and norms are infinite, or NaN where infinities of
// both signs are added up; deviations are NaN, as is the gradient of l2_norm at that element. A NaN
// is the largest and the smallest element.

namespace dynet {

/// The sum of all elements: {1}, one number for each batch element.
Expression sum_elems(const Expression& x, SourceLocation at = SourceLocation::current());
/// The mean of all elements.
Expression mean_elems(const Expression& x, SourceLocation at = SourceLocation::current());
/// The mean of the r-th powers of all elements, r >= 1.
Expression moment_elems(const Expression& x, unsigned r,
                        SourceLocation at = SourceLocation::current());
/// The standard deviation of all elements: the root of the mean of (x_i - mean)^2; gradient 0 at 0.
Expression std_elems(const Expression& x, SourceLocation at = SourceLocation::current());
/// The sum of the squares of all elements.
Expression squared_norm(const Expression& x, SourceLocation at = SourceLocation::current());
/// The root of the sum of the squares of all elements; gradient 0 at 0.
Expression l2_norm(const Expression& x, SourceLocation at = SourceLocation::current());

/// The sum of the batch elements: the operand's shape without its batch.
Expression sum_batches(const Expression& x, SourceLocation at = SourceLocation::current());
/// The mean of the batch elements.
Expression mean_batches(const Expression& x, SourceLocation at = SourceLocation::current());
/// The mean of the r-th powers of the batch elements, element by element.
Expression moment_batches(const Expression& x, unsigned r,
                          SourceLocation at = SourceLocation::current());
/// The standard deviation of the batch elements, element by element.
Expression std_batches(const Expression& x, SourceLocation at = SourceLocation::current());

/// The sum along any number of dimensions, which are removed; with `b` also over the batch
/// elements, which leaves a batch of one.
Expression sum_dim(const Expression& x, const std::vector<unsigned>& dims, bool b = false,
                   SourceLocation at = SourceLocation::current());
/// sum_dim(x, {0}): the sum of the rows of a matrix. DyNet's older name.
Expression sum_rows(const Expression& x, SourceLocation at = SourceLocation::current());
/// sum_dim(x, {1}): the sum of the columns of a matrix; of a vector, itself. DyNet's older name.
Expression sum_cols(const Expression& x, SourceLocation at = SourceLocation::current());
/// The mean along dimensions, as sum_dim. n > 0 replaces the number of elements as the divisor, for
/// operands that are partly masked by zeros.
Expression mean_dim(const Expression& x, const std::vector<unsigned>& dims, bool b = false,
                    unsigned n = 0, SourceLocation at = SourceLocation::current());
/// The mean of the columns of a matrix; of a vector, itself.
Expression average_cols(const Expression& x, SourceLocation at = SourceLocation::current());
/// The mean of r-th powers along dimensions, r >= 1, as mean_dim.
Expression moment_dim(const Expression& x, const std::vector<unsigned>& dims, unsigned r,
                      bool b = false, unsigned n = 0,
                      SourceLocation at = SourceLocation::current());
/// The standard deviation along dimensions, the root of the mean of (x_i - mean)^2, as mean_dim; n
/// > 0 replaces the number of elements in both means. Gradient 0 at 0.
Expression std_dim(const Expression& x, const std::vector<unsigned>& dims, bool b = false,
                   unsigned n = 0, SourceLocation at = SourceLocation::current());

/// The largest element along dimension d, which is removed; the first of several equal ones gets
/// the gradient.
Expression max_dim(const Expression& x, unsigned d = 0,
                   SourceLocation at = SourceLocation::current());
/// The smallest element along dimension d, which is removed; the first of several equal ones gets
/// the gradient.
Expression min_dim(const Expression& x, unsigned d = 0,
                   SourceLocation at = SourceLocation::current());
/// The sums of the first 1, 2, ... elements along dimension d: the operand's shape.
Expression cumsum(const Expression& x, unsigned d, SourceLocation at = SourceLocation::current());

}  // namespace dynet
