#pragma once

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/ops/index_argument.h"
#include "dynet-like/ops/index_lists_argument.h"

// Losses: one number for each batch element, unless stated otherwise. Batch sizes are equal, or one
// on either side. Indices behind a pointer are read and checked at every forward. Errors:
// ShapeError, IndexError, ArgumentError.

namespace dynet {

/// sum_i |x_i - y_i|; gradient 0 where they are equal.
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
/// `hinge` of each column of a matrix (d = 0; rows for d = 1): {columns}. One class for each
/// column, as one list for all batch elements or one list for each batch element.
Expression hinge_dim(const Expression& x, const IndexListsArgument& indices, unsigned d = 0,
                     float m = 1.0f, SourceLocation at = SourceLocation::current());

/// -log of the probability of y events if e^x are expected: e^x - y x + log(y!). x is one number; y
/// is one count for each batch element, or one for all. NaN if x is plus infinity.
Expression poisson_loss(const Expression& x, const IndexArgument& y,
                        SourceLocation at = SourceLocation::current());

/// The loss whose gradient is sparsemax(x) - q for a vector of scores x, where q is 1/k at the k
/// elements of `support`, which is one list or one for each batch element. Zero if sparsemax(x) =
/// q. Infinity if the score of a support element is minus infinity; that score gets no gradient.
/// NaN if a score is plus infinity. Martins and Astudillo 2016.
Expression sparsemax_loss(const Expression& x, const IndexListsArgument& support,
                          SourceLocation at = SourceLocation::current());

}  // namespace dynet
