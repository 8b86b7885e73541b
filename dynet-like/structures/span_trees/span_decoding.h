#pragma once

#include <cstdint>
#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/structures/span_trees/attributes.h"

namespace dynet {

/// The scores of the spans of a sentence, as numbers: see structures/span_trees/op.h.
struct SpanScores {
  unsigned words = 0;        ///< how many
  unsigned labels = 1;       ///< how many
  std::vector<float> spans;  ///< {words, words, labels}, column-major

  /// Score of a label of the words from `first` to `last`.
  double score(unsigned first, unsigned last, unsigned label) const {
    const std::size_t column = std::size_t{label} * words + last;
    return static_cast<double>(spans[column * words + first]);
  }
};

/// The values of `spans`, {n,n} or {n,n,K}. Throws ArgumentError for other shapes and for a batch:
/// decode its elements one by one.
SpanScores span_scores(const Expression& spans, SourceLocation at = SourceLocation::current());

/// A tree, and its score.
struct ScoredSpans {
  std::vector<LabelledSpan> spans;  ///< in preorder: a span, its left part, its right part
  double score;  ///< in double; that of each span is added to the sum of its parts'
};

/// The n best trees with their labels, or as many as there are with a score above minus infinity:
/// the highest score first, of equal scores the lexicographically first. There a tree is the list
/// of its spans in preorder, for each of which counts where it falls apart (a shorter left part
/// comes first), then the label. The algorithm of Cocke, Younger and Kasami with n entries for each
/// span; of pairs of parts only those that can be among the n best are looked at (Huang, Chiang
/// 2005). Time O(w^3 n log^2 n + w^2 K) for w words, memory O(w^2 n). Throws, as the functions
/// below, NumericError for scores that are NaN or plus infinity.
std::vector<ScoredSpans> best_span_trees(const SpanScores& scores, std::size_t n);

/// The best tree; no spans where all trees are forbidden.
std::vector<LabelledSpan> best_span_tree(const SpanScores& scores);

/// A tree drawn with its probability: the same one for the same key. No spans where all trees are
/// forbidden. Sums from below, then draws from the whole sentence down.
std::vector<LabelledSpan> sample_span_tree(const SpanScores& scores, std::uint64_t key);

}  // namespace dynet
