#pragma once

#include <cstdint>
#include <vector>

namespace dynet {

/// Scores of a linear chain as numbers, see structures/crf/op.h. Matrices are column-major.
struct ChainScores {
  unsigned tags = 0, length = 0;
  std::vector<float> emissions;    ///< {tags, length}
  std::vector<float> transitions;  ///< {tags, tags}, or one matrix for each step
  std::vector<float> start, stop;  ///< {tags}

  /// Score of the transition from tag i at position t - 1 to tag j at t.
  double transition(unsigned t, unsigned i, unsigned j) const {
    const std::size_t square = std::size_t{tags} * tags;
    const std::size_t into = transitions.size() > square ? (t - 1) * square : 0;
    return static_cast<double>(transitions[into + std::size_t{j} * tags + i]);
  }
  double emission(unsigned t, unsigned j) const {
    return static_cast<double>(emissions[std::size_t{t} * tags + j]);
  }
};

/// A sequence of tags, and its score, summed in double from the first position to the last.
struct ScoredTags {
  std::vector<unsigned> tags;
  double score;
};

/// At most n best sequences with a score above minus infinity: the highest score first, of equal
/// scores the lexicographically first. Algorithm: Viterbi 1967, with n entries per tag. Time O(T
/// K^2 n), memory O(T K n). This function and sample_sequence throw NumericError for scores that
/// are NaN or plus infinity.
std::vector<ScoredTags> best_sequences(const ChainScores& scores, std::size_t n);

/// A sample of the distribution by forward filtering and backward sampling; equal keys give equal
/// samples. Empty if all sequences are forbidden.
std::vector<unsigned> sample_sequence(const ChainScores& scores, std::uint64_t key);

}  // namespace dynet
