#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dynet-like/structures/dependency_trees/attributes.h"

namespace dynet {

/// Scores of the arcs of a sentence as numbers, see structures/dependency_trees/op.h.
struct ArcScores {
  unsigned words = 0;         ///< number of words, without the root
  std::vector<float> scores;  ///< {words+1, words+1}, column-major, [head, dependent]

  /// Score of an arc.
  double arc(unsigned head, unsigned dependent) const {
    return static_cast<double>(scores[std::size_t{dependent} * (words + 1) + head]);
  }
};

/// A tree: the heads of words 1 to n, 0 for the root; and its score, summed in double from the
/// first word to the last.
struct ScoredTree {
  std::vector<unsigned> heads;  ///< of each word
  double score;                 ///< sum of its arcs
};

/// At most n best trees with a score above minus infinity: the highest score first, of equal scores
/// the tree with the lexicographically first heads. Projective trees: the algorithm of Eisner
/// (1996, 2000) in time O(words^3); for n > 1 with n entries per span, in time O(words^3 + words^2
/// n^2), or O(words^4) if most scores are equal. Non-projective trees: Lawler's (1972) partition of
/// all trees, with Chu-Liu and Edmonds' (1965, 1967) algorithm for the best tree of each part, in
/// time O(words^2) for the best tree, ties included, and O(words^3) for each further tree. With a
/// single root the result is exact. Throws ArgumentError for scores of another size. This function
/// and the functions below throw NumericError for scores that are NaN or plus infinity.
std::vector<ScoredTree> best_trees(const ArcScores& scores, std::size_t n,
                                   DependencyRules rules = {});

/// The heads of the first tree of best_trees, computed faster. Empty if all trees are forbidden.
std::vector<unsigned> best_tree(const ArcScores& scores, DependencyRules rules = {});

/// A sample of the distribution over trees: its heads. Equal keys give equal samples; empty if all
/// trees are forbidden. Projective trees are drawn top-down from inside sums; non-projective trees
/// word by word, each head given the heads drawn before (Colbourn, Myrvold, Neufeld 1996; Zmigrod,
/// Vieira, Cotterell 2021), which is exact with a single root as well.
std::vector<unsigned> sample_tree(const ArcScores& scores, std::uint64_t key,
                                  DependencyRules rules = {});

}  // namespace dynet
