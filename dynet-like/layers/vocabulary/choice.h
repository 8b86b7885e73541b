#pragma once

#include <vector>

#include "dynet-like/graph/computation_graph.h"

namespace dynet::nn_detail {

/// -log(softmax(scores)[c]) for one choice c of each batch element, or for several of the one there
/// is: {1} with that batch.
Expression choice_loss(const Expression& scores, const std::vector<unsigned>& choices,
                       SourceLocation at);

/// An index sampled from softmax(scores), by the seed of the
/// graph. Throws ArgumentError for a batch, and if there is no probability to go by.
unsigned draw(const char* who, const Expression& scores, SourceLocation at);

}  // namespace dynet::nn_detail
