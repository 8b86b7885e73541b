#pragma once

#include <cstdint>
#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/structures/span_trees/attributes.h"

namespace dynet {

/// Scores of the spans of a sentence as numbers, see structures/span_trees/op.h.
struct SpanScores {
  unsigned words = 0;        ///< number of words
  unsigned labels = 1;       ///< number of labels
  std::vector<float> spans;  ///< {words, words, labels}, column-major

  /// Score of a label of the words from `first` to `last`.
  double score(unsigned first, unsigned last, unsigned label) const {
    const std::size_t column = std::size_t{label} * words + last;
    return static_cast<double>(spans[column * words + first]);
  }
};

/// The values of `spans`, {n,n} or {n,n,K}. Throws ArgumentError for other shapes and for a batch
/// (decode its elements one by one).
SpanScores span_scores(const Expression& spans, SourceLocation at = SourceLocation::current());

/// A tree and its score.
struct ScoredSpans {
  std::vector<LabelledSpan> spans;  ///< in preorder: a span, its left part, its right part
  double score;  ///< in double: the span's score plus the sum of its parts' scores
};

/// At most n best labelled trees with a score above minus infinity: the highest score first, of
/// equal scores the lexicographically first. Trees are compared as lists of their spans in
/// preorder, spans by their split (a shorter left part comes first), then by their label.
/// Algorithm: Cocke, Younger and Kasami with n entries per span; only pairs of parts that can be
/// among the n best are combined (Huang, Chiang 2005). Time O(w^3 n log^2 n + w^2 K) for w words,
/// memory O(w^2 n). This function and the functions below throw NumericError for scores that are
/// NaN or plus infinity.
std::vector<ScoredSpans> best_span_trees(const SpanScores& scores, std::size_t n);

/// The best tree; no spans if all trees are forbidden.
std::vector<LabelledSpan> best_span_tree(const SpanScores& scores);

/// A sample of the distribution over trees; equal keys give equal samples. No spans if all trees
/// are forbidden. Sums are computed bottom-up, then spans are drawn top-down.
std::vector<LabelledSpan> sample_span_tree(const SpanScores& scores, std::uint64_t key);

}  // namespace dynet
