#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "dynet-like/base/random.h"
#include "dynet-like/structures/dependency_trees/dependency_decoding.h"

// Internal functions of dependency_decoding.h.

namespace dynet::trees {

inline constexpr double kForbidden = -std::numeric_limits<double>::infinity();

/// Order of results: whether a comes before b.
inline bool comes_before(const ScoredTree& a, const ScoredTree& b) {
  return a.score != b.score ? a.score > b.score : a.heads < b.heads;
}
/// Score of a tree, as in ScoredTree.
double score_of(const ArcScores& scores, const std::vector<unsigned>& heads);

/// The heads of the best projective tree, of equal ones the first; empty if there is none.
std::vector<unsigned> first_projective(const ArcScores& scores, bool single_root);
std::vector<ScoredTree> best_projective(const ArcScores& scores, std::size_t n, bool single_root);
std::vector<ScoredTree> best_spanning(const ArcScores& scores, std::size_t n, bool single_root);

std::vector<unsigned> sample_projective(const ArcScores& scores, const RandomStream& random,
                                        bool single_root);
std::vector<unsigned> sample_spanning(const ArcScores& scores, const RandomStream& random,
                                      bool single_root);

}  // namespace dynet::trees
