#pragma once

#include <initializer_list>
#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/ops/index_argument.h"

// Scores to probabilities. A score of minus infinity is masked: its probability and its gradients
// are zero; if all scores are masked all probabilities are zero. If a score is plus infinity,
// values and gradients are NaN.

namespace dynet {

/// e^x_i / sum_j e^x_j, along dimension d: the operand's shape. Throws IndexError.
Expression softmax(const Expression& x, unsigned d = 0,
                   SourceLocation at = SourceLocation::current());
/// log(softmax(x)) along dimension 0, minus infinity where x is masked.
Expression log_softmax(const Expression& x, SourceLocation at = SourceLocation::current());
/// log_softmax over the elements in `restriction`; all other elements are minus infinity. Throws
/// IndexError, and ArgumentError if `restriction` is empty.
Expression log_softmax(const Expression& x, const std::vector<unsigned>& restriction,
                       SourceLocation at = SourceLocation::current());
Expression log_softmax(const Expression& x, std::initializer_list<unsigned> restriction,
                       SourceLocation at = SourceLocation::current());
/// log sum_j e^x_j along dimension d, which is removed. Minus infinity if all scores are masked, or
/// if there are none. Plus infinity if a score is, with a gradient of NaN for that score and of
/// zero for finite scores. Throws IndexError.
Expression logsumexp_dim(const Expression& x, unsigned d,
                         SourceLocation at = SourceLocation::current());

/// Along dimension 0, the probabilities nearest to x: max(x_i - t, 0), where t makes their sum one.
/// The operand's shape. Martins and Astudillo 2016.
Expression sparsemax(const Expression& x, SourceLocation at = SourceLocation::current());
/// Along dimension 0, min(e^x_i / z, y_i), where z makes the sum one: the shape of the operands,
/// which are equal except for the batch. The bounds y are not negative; if their sum is below one,
/// the result is y. Martins and Kreutzer 2017. Throws ShapeError.
Expression constrained_softmax(const Expression& x, const Expression& y,
                               SourceLocation at = SourceLocation::current());

/// -log(softmax(x)[v]) for a vector of scores x and one class v for each batch element: {1}, one
/// loss for each batch element. If the class is masked the loss is infinite. Classes behind a
/// pointer are checked when the graph runs. Throws ShapeError, IndexError, ArgumentError.
Expression pickneglogsoftmax(const Expression& x, const IndexArgument& v,
                             SourceLocation at = SourceLocation::current());

}  // namespace dynet
