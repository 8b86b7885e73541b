#pragma once

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/ops/index_argument.h"

// Scores to probabilities. A score of minus infinity is masked: its probability and every gradient
// that reaches it are zero, and where all scores are masked all probabilities are zero.

namespace dynet {

/// e^x_i / sum_j e^x_j, along dimension d of a vector or matrix: the operand's shape.
/// Throws ShapeError, IndexError.
Expression softmax(const Expression& x, unsigned d = 0,
                   SourceLocation at = SourceLocation::current());
/// log(softmax(x)) along dimension 0 of a vector or matrix, minus infinity where x is masked.
Expression log_softmax(const Expression& x, SourceLocation at = SourceLocation::current());

/// -log(softmax(x)[v]) for a vector of scores x and one class v for each batch element: {1}, one
/// loss for each batch element. If the class is masked the loss is infinite. Classes behind a
/// pointer are checked when the graph runs. Throws ShapeError, IndexError, ArgumentError.
Expression pickneglogsoftmax(const Expression& x, const IndexArgument& v,
                             SourceLocation at = SourceLocation::current());

}  // namespace dynet
