#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dynet-like/structures/dependency_trees/attributes.h"

namespace dynet {

/// The scores of the arcs of a sentence, as numbers: see structures/dependency_trees/op.h.
struct ArcScores {
  unsigned words = 0;         ///< without the root
  std::vector<float> scores;  ///< {words+1, words+1}, column-major, [head, dependent]

  /// Score of one arc.
  double arc(unsigned head, unsigned dependent) const {
    return static_cast<double>(scores[std::size_t{dependent} * (words + 1) + head]);
  }
};

/// A tree: the heads of words 1 to n, 0 for the root; and its score, added up in double from the
/// first word to the last.
struct ScoredTree {
  std::vector<unsigned> heads;  ///< of each word
  double score;                 ///< of its arcs
};

/// The n best trees, or as many as there are with a score above minus infinity: the highest score
/// first, of equal scores the one whose heads are lexicographically first. Projective trees by the
/// algorithm of Eisner (1996, 2000) in time O(words^3); for n > 1 with n entries for each span, in
/// time O(words^3 + words^2 n^2), and O(words^4) where most scores are equal. Others by Lawler's
/// (1972) partition of all trees, with Chu-Liu and Edmonds' (1965, 1967) algorithm for the best
/// tree of each part, in time O(words^2) for the best tree, whatever scores are equal, and
/// O(words^3) for each other one. With a single root the best is exact, not that of the first root
/// found. Throws ArgumentError for scores of another size, and, as the functions below,
/// NumericError for those that are NaN or plus infinity.
std::vector<ScoredTree> best_trees(const ArcScores& scores, std::size_t n,
                                   DependencyRules rules = {});

/// The heads of the best tree, as best_trees finds it, only faster. None where all are forbidden.
std::vector<unsigned> best_tree(const ArcScores& scores, DependencyRules rules = {});

/// The heads of a tree drawn with its probability: the same one for the same key. None where all
/// trees are forbidden. Projective trees from the inside sums down; others word by word, each head
/// by its probability given those drawn before (Colbourn, Myrvold, Neufeld 1996; Zmigrod, Vieira,
/// Cotterell 2021), which is exact with a single root, too.
std::vector<unsigned> sample_tree(const ArcScores& scores, std::uint64_t key,
                                  DependencyRules rules = {});

}  // namespace dynet
