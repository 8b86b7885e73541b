#pragma once

#include <initializer_list>
#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/ops/index_argument.h"

// Softmax and its variants. A score of minus infinity is masked: its probability and gradient are
// zero; if all scores are masked, all probabilities are zero. If a score is plus infinity there is
// no distribution: values and gradients are NaN.

namespace dynet {

/// e^x_i / sum_j e^x_j, along dimension d: the operand's shape. Throws IndexError.
Expression softmax(const Expression& x, unsigned d = 0,
                   SourceLocation at = SourceLocation::current());
/// log(softmax(x)) along dimension 0, minus infinity where x is masked.
Expression log_softmax(const Expression& x, SourceLocation at = SourceLocation::current());
/// log_softmax over the elements in `restriction`; all other elements are minus infinity. Throws
/// IndexError, and ArgumentError for an empty restriction.
Expression log_softmax(const Expression& x, const std::vector<unsigned>& restriction,
                       SourceLocation at = SourceLocation::current());
Expression log_softmax(const Expression& x, std::initializer_list<unsigned> restriction,
                       SourceLocation at = SourceLocation::current());
/// log sum_j e^x_j along dimension d, which is removed; minus infinity if all scores are masked or
/// there are none. If a score is plus infinity so is the value; the gradient is NaN for that score
/// and zero for finite scores. Throws IndexError.
Expression logsumexp_dim(const Expression& x, unsigned d,
                         SourceLocation at = SourceLocation::current());

/// The probabilities closest to x along dimension 0: max(x_i - t, 0), with t such that they sum to
/// one. The operand's shape. Martins and Astudillo 2016.
Expression sparsemax(const Expression& x, SourceLocation at = SourceLocation::current());
/// min(e^x_i / z, y_i) along dimension 0, with z such that the sum is one. Both operands have the
/// shape of the result, up to the batch. The bounds y must not be negative; if their sum is below
/// one, the result is y. Martins and Kreutzer 2017. Throws ShapeError.
Expression constrained_softmax(const Expression& x, const Expression& y,
                               SourceLocation at = SourceLocation::current());

/// -log(softmax(x)[v]) for a vector of scores x and one class v for each batch element: {1} for
/// each batch element. The loss of a masked class is infinite. Classes behind a pointer are checked
/// at every forward. Throws ShapeError, IndexError, ArgumentError.
Expression pickneglogsoftmax(const Expression& x, const IndexArgument& v,
                             SourceLocation at = SourceLocation::current());
/// pickneglogsoftmax of the scores W x, or b + W_1 x_1 + W_2 x_2 + ... for an odd number of
/// operands, as one node: an output layer and its loss.
Expression linear_cross_entropy(std::initializer_list<Expression> scores, const IndexArgument& v,
                                SourceLocation at = SourceLocation::current());
Expression linear_cross_entropy(const std::vector<Expression>& scores, const IndexArgument& v,
                                SourceLocation at = SourceLocation::current());

}  // namespace dynet
