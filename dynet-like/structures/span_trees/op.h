#pragma once

#include <span>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/structures/span_trees/attributes.h"

// Distributions over the binary trees of n words whose spans have labels. Element (i, j, k) of
// `spans`, which is {n,n,K}, is the score of label k for the words from i to j, and {n,n} has one
// label. The score of a tree is the sum of the scores of its 2n - 1 spans, each with its label,
// words (i = j) and the whole sentence included, and its probability e^score / Z, where Z is the
// sum over all trees and labels (Baker 1979; Stern, Andreas, Klein 2017). Elements with i > j are
// not read and get gradients of zero.
//
// `spans` may have a batch size, of which each element is a sentence. Minus infinity forbids.
// Sentences of different lengths run in one batch; no words have one tree, with score 0. Where all
// is forbidden log Z is minus infinity, and marginals, entropy and gradients are zero. Time
// O(n^3 + n^2 K).
//
// Errors: ShapeError. See structures/span_trees/span_decoding.h for the best trees and for samples.

namespace dynet {

/// log Z: {1}. Its gradient is the probability of each label of each span.
Expression span_log_partition(const Expression& spans,
                              SourceLocation at = SourceLocation::current());

/// The log-probability of the tree that has these spans, in any order: {1}, never above zero. There
/// are 2n - 1 of them, or 2n - 1 for each batch element one after the other. The sum over the
/// labels of a span where that is kAnyLabel, as it is when none is given. Minus infinity, with
/// gradient zero, for what is forbidden. Errors: ArgumentError for spans that are no binary tree of
/// n words, IndexError for a label that is not below K.
Expression span_log_prob(const Expression& spans, std::span<const LabelledSpan> tree,
                         SourceLocation at = SourceLocation::current());

/// The probability of each label of each span: the shape of `spans`.
Expression span_marginals(const Expression& spans, SourceLocation at = SourceLocation::current());

/// The entropy of the distribution over labelled trees, in nats: {1}.
Expression span_entropy(const Expression& spans, SourceLocation at = SourceLocation::current());

}  // namespace dynet
