#pragma once

#include <vector>

#include "dynet-like/graph/computation_graph.h"

namespace dynet::nn_detail {

/// Throws ArgumentError unless there is a word for each batch element of `rep`, or for the one
/// there is any number of them. Returns how many batch elements there are.
unsigned need_words(const char* who, const Expression& rep, const std::vector<unsigned>& words,
                    SourceLocation at);

/// -log(softmax(scores)[c]) for one choice c of each batch element, or for several of the one there
/// is: {1} with that batch.
Expression choice_loss(const Expression& scores, const std::vector<unsigned>& choices,
                       SourceLocation at);

/// A sample of softmax(scores), drawn with the graph's seed. Throws ArgumentError for a batch, and
/// if all probabilities are zero.
unsigned draw(const char* who, const Expression& scores, SourceLocation at);

}  // namespace dynet::nn_detail
