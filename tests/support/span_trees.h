#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "dynet-like/base/random.h"
#include "dynet-like/structures/span_trees/span_decoding.h"

namespace dynet::test {

/// Scores of spans; optionally some are forbidden, or all are whole numbers, so that many sums are
/// equal.
inline SpanScores some_span_scores(unsigned words, unsigned labels, std::uint64_t key,
                                   bool whole = false, bool forbids = false) {
  const RandomStream random(key);
  SpanScores s{words, labels, std::vector<float>(std::size_t{words} * words * labels)};
  std::uint64_t draws = 0;
  for (float& x : s.spans) {
    const double score = random.normal(draws++);
    const bool never = forbids && random.uniform(draws++) < 0.15;
    x = never   ? -std::numeric_limits<float>::infinity()
        : whole ? static_cast<float>(std::round(score))
                : static_cast<float>(2 * score);
  }
  return s;
}

/// All trees over the words [first, last], including forbidden ones, in lexicographic order, with
/// scores added in the order of best_span_trees. Trees without labels have kAnyLabel and no scores.
inline std::vector<ScoredSpans> all_span_trees(const SpanScores& s, bool with_labels,
                                               unsigned first, unsigned last) {
  std::vector<ScoredSpans> all;
  const unsigned labels = with_labels ? s.labels : 1;
  const auto add = [&](unsigned k, const ScoredSpans& l, const ScoredSpans& r) {
    ScoredSpans t{{{first, last, with_labels ? k : kAnyLabel}}, 0};
    t.spans.insert(t.spans.end(), l.spans.begin(), l.spans.end());
    t.spans.insert(t.spans.end(), r.spans.begin(), r.spans.end());
    if (with_labels) t.score = s.score(first, last, k) + (l.score + r.score);
    all.push_back(t);
  };
  for (unsigned k = 0; k < labels && first == last; ++k) add(k, {{}, 0}, {{}, 0});
  for (unsigned m = first; m < last; ++m) {
    const std::vector<ScoredSpans> left = all_span_trees(s, with_labels, first, m),
                                   right = all_span_trees(s, with_labels, m + 1, last);
    for (unsigned k = 0; k < labels; ++k)
      for (const ScoredSpans& l : left)
        for (const ScoredSpans& r : right) add(k, l, r);
  }
  return all;
}
inline std::vector<ScoredSpans> all_span_trees(const SpanScores& s, bool with_labels = true) {
  if (s.words == 0) return {{{}, 0}};
  return all_span_trees(s, with_labels, 0, s.words - 1);
}

}  // namespace dynet::test
