#pragma once

#include <vector>

#include "dynet-like/graph/computation_graph.h"

namespace dynet {

/// -log p of a class with label smoothing (Szegedy et al. 2016, "Rethinking the inception
/// architecture for computer vision"): the cross entropy to a distribution that gives every one of
/// n classes e/n, and the class 1 - e besides,
///
///     (1 - e) (-log p_v) + e / n sum_c (-log p_c),   p = softmax(scores)
///
/// as PyTorch's CrossEntropyLoss has it. Scores {n}; one class for each batch element, or several
/// of the one there is: {1} with that batch. Without smoothing, at e = 0, it is pickneglogsoftmax;
/// otherwise scores of minus infinity make the loss infinite. Throws ArgumentError unless
/// 0 <= e <= 1, ShapeError, IndexError.
Expression label_smoothed_loss(const Expression& scores, const std::vector<unsigned>& classes,
                               float smoothing, SourceLocation at = SourceLocation::current());
/// The same for one class.
Expression label_smoothed_loss(const Expression& scores, unsigned v, float smoothing,
                               SourceLocation at = SourceLocation::current());

}  // namespace dynet
