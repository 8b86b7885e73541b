#include "dynet-like/structures/dependency_trees/dependency_decoding.h"

#include <string>

#include "dynet-like/base/errors.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/structures/dependency_trees/tree_decoding.h"

namespace dynet {
namespace trees {

double score_of(const ArcScores& scores, const std::vector<unsigned>& heads) {
  double sum = 0;
  for (unsigned d = 1; d <= scores.words; ++d) sum += scores.arc(heads[d - 1], d);
  return sum;
}

namespace {

void need_size(const char* who, const ArcScores& s) {
  const std::size_t nodes = std::size_t{s.words} + 1;
  if (s.scores.size() != nodes * nodes)
    throw ArgumentError(std::string(who) + ": " + std::to_string(s.words) + " words have " +
                        std::to_string(nodes * nodes) + " scores of arcs, got " +
                        std::to_string(s.scores.size()));
  for (std::size_t d = 1; d < nodes; ++d) {
    const float* const row = s.scores.data() + d * nodes;
    nn_detail::need_scores(who, {row, d});
    nn_detail::need_scores(who, {row + d + 1, nodes - d - 1});
  }
}

}  // namespace
}  // namespace trees

std::vector<ScoredTree> best_trees(const ArcScores& scores, std::size_t n, DependencyRules rules) {
  trees::need_size("best_trees", scores);
  if (n == 0) return {};
  if (scores.words == 0) return {{{}, 0.0}};
  if (!rules.projective) return trees::best_spanning(scores, n, rules.single_root);
  if (n == 1) {
    std::vector<unsigned> heads = trees::first_projective(scores, rules.single_root);
    if (heads.empty()) return {};
    const double score = trees::score_of(scores, heads);
    return {{std::move(heads), score}};
  }
  return trees::best_projective(scores, n, rules.single_root);
}

std::vector<unsigned> best_tree(const ArcScores& scores, DependencyRules rules) {
  trees::need_size("best_tree", scores);
  std::vector<ScoredTree> best = best_trees(scores, 1, rules);
  return best.empty() ? std::vector<unsigned>() : std::move(best[0].heads);
}

std::vector<unsigned> sample_tree(const ArcScores& scores, std::uint64_t key,
                                  DependencyRules rules) {
  trees::need_size("sample_tree", scores);
  if (scores.words == 0) return {};
  const RandomStream random(key);
  return rules.projective ? trees::sample_projective(scores, random, rules.single_root)
                          : trees::sample_spanning(scores, random, rules.single_root);
}

}  // namespace dynet
