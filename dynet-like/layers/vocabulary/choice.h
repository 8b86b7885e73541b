#pragma once

#include <vector>

#include "dynet-like/graph/computation_graph.h"

namespace dynet::nn_detail {

/// -log(softmax(scores)[c]) for one choice c of each batch element, or for several choices of a
/// single batch element: {1} for each choice, as a batch.
Expression choice_loss(const Expression& scores, const std::vector<unsigned>& choices,
                       SourceLocation at);

/// A sample of softmax(scores), drawn with the graph's seed. Throws ArgumentError for a batch, and
/// if all probabilities are zero.
unsigned draw(const char* who, const Expression& scores, SourceLocation at);

}  // namespace dynet::nn_detail
