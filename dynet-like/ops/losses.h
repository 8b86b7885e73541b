#pragma once

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/ops/index_argument.h"
#include "dynet-like/ops/index_lists_argument.h"

// Losses: {1} for each batch element, unless stated otherwise. Batch sizes are equal, or one in
// either operand. Indices behind a pointer are read and checked at every forward. Errors:
// ShapeError, IndexError, ArgumentError.

namespace dynet {

/// sum_i |x_i - y_i|; the gradient is 0 where x_i = y_i.
Expression l1_distance(const Expression& x, const Expression& y,
                       SourceLocation at = SourceLocation::current());
/// sum_i h(x_i - y_i), where h(d) is d^2 / 2 up to |d| = c and c (|d| - c / 2) beyond (Huber 1964).
/// Throws ArgumentError unless c is positive.
Expression huber_distance(const Expression& x, const Expression& y, float c = 1.345f,
                          SourceLocation at = SourceLocation::current());
/// max(0, m - x + y), elementwise: the shape that the operands broadcast to.
Expression pairwise_rank_loss(const Expression& x, const Expression& y, real m = 1.0f,
                              SourceLocation at = SourceLocation::current());

/// sum_{j != i} max(0, m - x_i + x_j) for a vector of scores x and one class i for each batch
/// element. A score x_j of minus infinity is masked: it adds nothing.
Expression hinge(const Expression& x, const IndexArgument& index, float m = 1.0f,
                 SourceLocation at = SourceLocation::current());
/// hinge for each column of a matrix (d = 0) or each row (d = 1): {columns} or {rows}. One class
/// for each column or row, as one list for all batch elements or one list for each batch element.
Expression hinge_dim(const Expression& x, const IndexListsArgument& indices, unsigned d = 0,
                     float m = 1.0f, SourceLocation at = SourceLocation::current());

/// Minus the log-probability of y events if e^x are expected: e^x - y x + log(y!). x is a scalar; y
/// is one count for each batch element, or one for all. NaN where x is plus infinity.
Expression poisson_loss(const Expression& x, const IndexArgument& y,
                        SourceLocation at = SourceLocation::current());

/// The loss whose gradient is sparsemax(x) - q for a vector of scores x, where q is 1/k at the k
/// elements of `support`, which is one list, or one list for each batch element. Zero if
/// sparsemax(x) = q. Infinity if a score in the support is minus infinity; that score gets no
/// gradient. NaN if a score is plus infinity. Martins and Astudillo 2016.
Expression sparsemax_loss(const Expression& x, const IndexListsArgument& support,
                          SourceLocation at = SourceLocation::current());

}  // namespace dynet
