#pragma once

#include <vector>

#include "dynet-like/graph/computation_graph.h"

// Reductions over elements, dimensions or the batch. A mean, a moment, a standard deviation or an
// extreme of no elements throws ShapeError; a dimension that x does not have throws IndexError; a
// repeated dimension, or a power of 0, throws ArgumentError. Means, standard deviations and l2_norm
// are correct wherever the result is in the range of float, even if intermediate sums or squares
// are not.
//
// With an infinite element, sums, means, moments and norms are infinite, or NaN for infinities of
// both signs; standard deviations are NaN, and so is the gradient of l2_norm at that element. A NaN
// counts as the largest and as the smallest element.

namespace dynet {

/// The sum of all elements: {1} for each batch element, here and in the functions up to l2_norm.
Expression sum_elems(const Expression& x, SourceLocation at = SourceLocation::current());
/// The mean of all elements.
Expression mean_elems(const Expression& x, SourceLocation at = SourceLocation::current());
/// The mean of the r-th powers of all elements, r >= 1.
Expression moment_elems(const Expression& x, unsigned r,
                        SourceLocation at = SourceLocation::current());
/// The standard deviation, the root of the mean of (x_i - mean)^2; gradient 0 where it is 0.
Expression std_elems(const Expression& x, SourceLocation at = SourceLocation::current());
/// The sum of the squares of all elements.
Expression squared_norm(const Expression& x, SourceLocation at = SourceLocation::current());
/// The root of the sum of squares; where it is 0 so is the gradient.
Expression l2_norm(const Expression& x, SourceLocation at = SourceLocation::current());

/// The sum over the batch: the operand's shape without its batch, here and up to std_batches.
Expression sum_batches(const Expression& x, SourceLocation at = SourceLocation::current());
/// The mean over the batch.
Expression mean_batches(const Expression& x, SourceLocation at = SourceLocation::current());
/// The mean over the batch of r-th powers.
Expression moment_batches(const Expression& x, unsigned r,
                          SourceLocation at = SourceLocation::current());
/// The standard deviation over the batch.
Expression std_batches(const Expression& x, SourceLocation at = SourceLocation::current());

/// The sum over dimensions `dims`, which are removed; with `b` over the batch as well.
Expression sum_dim(const Expression& x, const std::vector<unsigned>& dims, bool b = false,
                   SourceLocation at = SourceLocation::current());
/// sum_dim(x, {0}): the sum of the rows of a matrix. Old name.
Expression sum_rows(const Expression& x, SourceLocation at = SourceLocation::current());
/// sum_dim(x, {1}): the sum of the columns of a matrix; a vector is returned unchanged. Old name.
Expression sum_cols(const Expression& x, SourceLocation at = SourceLocation::current());
/// The mean over the dimensions `dims`, and with `b` over the batch. n > 0 is the divisor in place
/// of the number of elements, for operands with masked elements.
Expression mean_dim(const Expression& x, const std::vector<unsigned>& dims, bool b = false,
                    unsigned n = 0, SourceLocation at = SourceLocation::current());
/// The mean of the columns of a matrix; a vector is returned unchanged.
Expression average_cols(const Expression& x, SourceLocation at = SourceLocation::current());
/// The mean of r-th powers over `dims`, r >= 1; b and n as in mean_dim.
Expression moment_dim(const Expression& x, const std::vector<unsigned>& dims, unsigned r,
                      bool b = false, unsigned n = 0,
                      SourceLocation at = SourceLocation::current());
/// The standard deviation over `dims`, the root of the mean of (x_i - mean)^2; n > 0 replaces the
/// number of elements in both means. Where it is 0 so is the gradient.
Expression std_dim(const Expression& x, const std::vector<unsigned>& dims, bool b = false,
                   unsigned n = 0, SourceLocation at = SourceLocation::current());

/// The largest element along dimension d, which is removed; the first of equal elements gets the
/// gradient.
Expression max_dim(const Expression& x, unsigned d = 0,
                   SourceLocation at = SourceLocation::current());
/// The smallest element along dimension d, which is removed; gradient as in max_dim.
Expression min_dim(const Expression& x, unsigned d = 0,
                   SourceLocation at = SourceLocation::current());
/// The sums of the first 1, 2, ... elements along dimension d: the operand's shape.
Expression cumsum(const Expression& x, unsigned d, SourceLocation at = SourceLocation::current());

}  // namespace dynet
