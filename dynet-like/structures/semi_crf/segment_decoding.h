#pragma once

#include <cstdint>
#include <vector>

#include "dynet-like/structures/semi_crf/attributes.h"

namespace dynet {

/// Scores of a semi-Markov chain as numbers, see structures/semi_crf/op.h. Matrices are
/// column-major.
struct SegmentScores {
  unsigned labels = 0, longest = 0, length = 0;
  std::vector<float> scores;       ///< {labels * longest, length}
  std::vector<float> transitions;  ///< {labels, labels}
  std::vector<float> start, stop;  ///< {labels}

  /// Score of a segment of label j and length l that ends at position t.
  double segment(unsigned t, unsigned l, unsigned j) const {
    return static_cast<double>(scores[(std::size_t{t} * longest + l - 1) * labels + j]);
  }
  /// Score of the transition from label i to label j.
  double transition(unsigned i, unsigned j) const {
    return static_cast<double>(transitions[std::size_t{j} * labels + i]);
  }
};

/// Consecutive segments, and their score, summed in double from the last to the first.
struct ScoredSegments {
  std::vector<Segment> segments;
  double score;
};

/// At most n best segmentations with a score above minus infinity: the highest score first, of
/// equal scores the one whose segments are lexicographically first, each by its label, then by its
/// length. Time O(T K (K + L) n log n), memory O(T K n). This function and sample_segments throw
/// NumericError for scores that are NaN or plus infinity.
std::vector<ScoredSegments> best_segments(const SegmentScores& scores, std::size_t n);

/// A sample of the distribution; equal keys give equal samples. Empty if everything is forbidden.
std::vector<Segment> sample_segments(const SegmentScores& scores, std::uint64_t key);

}  // namespace dynet
