#pragma once

#include <span>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/structures/span_trees/attributes.h"

// Distributions over the binary trees of n words with labelled spans. `spans` is {n,n,K}; its
// element (i, j, k) is the score of label k for the words from i to j; {n,n} has one label. The
// score of a tree is the sum of the scores of its 2n - 1 labelled spans, which include words (i =
// j) and the whole sentence; its probability is e^score / Z, where Z is the sum of e^score over all
// trees and labels (Baker 1979; Stern, Andreas, Klein 2017). Elements with i > j are not read and
// get zero gradients.
//
// `spans` may have a batch size, with one sentence per batch element. A score of minus infinity
// forbids its span and label. Sentences of different lengths run in one batch; for n = 0 there is
// one tree, with score 0. If all trees are forbidden, log Z is minus infinity, and marginals,
// entropy and gradients are zero. Time O(n^3 + n^2 K).
//
// Errors: ShapeError. structures/span_trees/span_decoding.h has the best trees and samples.

namespace dynet {

/// log Z: {1}. Its gradient is the probability of each label of each span.
Expression span_log_partition(const Expression& spans,
                              SourceLocation at = SourceLocation::current());

/// The log-probability of the tree with these spans, in any order: {1}, never above zero. `tree`
/// has 2n - 1 spans for each batch element, one batch element after the other. For a span with
/// kAnyLabel (the default), the value sums over its labels. Forbidden trees give minus infinity,
/// with gradient zero. Errors: ArgumentError for spans that are not a binary tree of n words,
/// IndexError for a label that is not below K.
Expression span_log_prob(const Expression& spans, std::span<const LabelledSpan> tree,
                         SourceLocation at = SourceLocation::current());

/// The probability of each label of each span: the shape of `spans`.
Expression span_marginals(const Expression& spans, SourceLocation at = SourceLocation::current());

/// The entropy of the distribution over labelled trees, in nats: {1}.
Expression span_entropy(const Expression& spans, SourceLocation at = SourceLocation::current());

}  // namespace dynet
