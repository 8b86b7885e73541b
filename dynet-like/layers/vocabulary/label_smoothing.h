#pragma once

#include <vector>

#include "dynet-like/graph/computation_graph.h"

namespace dynet {

/// -log p of a class with label smoothing (Szegedy et al. 2016, "Rethinking the inception
/// architecture for computer vision"): the cross entropy to a distribution with e/n for each of n
/// classes, plus 1 - e for class v,
///
///     (1 - e) (-log p_v) + e / n sum_c (-log p_c),   p = softmax(scores)
///
/// as in PyTorch's CrossEntropyLoss. Scores {n}; one class for each batch element, or several
/// classes of a single batch element: {1} for each class, as a batch. For e = 0 this is
/// pickneglogsoftmax; for e > 0, scores of minus infinity make the loss infinite. Throws
/// ArgumentError unless 0 <= e <= 1, ShapeError, IndexError.
Expression label_smoothed_loss(const Expression& scores, const std::vector<unsigned>& classes,
                               float smoothing, SourceLocation at = SourceLocation::current());
/// label_smoothed_loss for one class.
Expression label_smoothed_loss(const Expression& scores, unsigned v, float smoothing,
                               SourceLocation at = SourceLocation::current());

}  // namespace dynet
