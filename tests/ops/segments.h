#pragma once

#include "tests/ops/sequences.h"

// Scores of segments, and those of linear chains, whose segments have one word each.

namespace dynet::test {

inline SegmentScores some_segments(unsigned labels, unsigned longest, unsigned length,
                                   std::uint64_t key, bool forbids = false) {
  const RandomStream random(key);
  std::uint64_t draws = 0;
  const auto fill = [&](std::size_t n) { return some_scores(n, random, draws, forbids ? 0.2 : 0); };
  return {labels,
          longest,
          length,
          fill(std::size_t{labels} * longest * length),
          fill(std::size_t{labels} * labels),
          fill(labels),
          fill(labels)};
}

/// The place of the score of a segment whose last word is `end`.
inline std::size_t place(const SegmentScores& s, unsigned end, const Segment& y) {
  return (std::size_t{end} * s.longest + y.length - 1) * s.labels + y.label;
}

inline double score(const SegmentScores& s, const std::vector<Segment>& y) {
  double sum = 0;
  unsigned t = 0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    sum += k == 0 ? static_cast<double>(s.start[y[k].label])
                  : s.transition(y[k - 1].label, y[k].label);
    t += y[k].length;
    sum += static_cast<double>(s.scores[place(s, t - 1, y[k])]);
    if (t == s.length) sum += static_cast<double>(s.stop[y[k].label]);
  }
  return sum;
}

/// The places of the scores of all segments.
inline std::vector<std::size_t> places(const SegmentScores& s, const std::vector<Segment>& y) {
  std::vector<std::size_t> all;
  unsigned t = 0;
  for (const Segment& segment : y) {
    t += segment.length;
    all.push_back(place(s, t - 1, segment));
  }
  return all;
}

inline void all_ways(const SegmentScores& s, unsigned t, std::vector<Segment>& y,
                     std::vector<std::vector<Segment>>& all) {
  if (t == s.length) return all.push_back(y);
  for (unsigned j = 0; j < s.labels; ++j)
    for (unsigned l = 1; l <= s.longest && t + l <= s.length; ++l) {
      y.push_back({j, l});
      all_ways(s, t + l, y, all);
      y.pop_back();
    }
}
/// All ways to cut.
inline std::vector<std::vector<Segment>> all_ways(const SegmentScores& s) {
  std::vector<std::vector<Segment>> all;
  std::vector<Segment> none;
  all_ways(s, 0, none, all);
  return all;
}

/// Parameters that the sentences of a model share.
struct SegmentParameters {
  Parameter a, s, p;

  SegmentParameters(ParameterCollection& model, unsigned labels)
      : a(model.add_parameters({labels, labels})),
        s(model.add_parameters({labels})),
        p(model.add_parameters({labels})) {}
};

/// The operands of the operations.
struct SegmentOperands {
  Expression x, a, s, p;

  SegmentOperands(ComputationGraph& g, const SegmentScores& c)
      : x(input(g, Dim({c.labels * c.longest, c.length}), c.scores)),
        a(input(g, Dim({c.labels, c.labels}), c.transitions)),
        s(input(g, Dim({c.labels}), c.start)),
        p(input(g, Dim({c.labels}), c.stop)) {}
  SegmentOperands(const Expression& scores, const SegmentParameters& shared)
      : x(scores),
        a(parameter(*x.pg, shared.a)),
        s(parameter(*x.pg, shared.s)),
        p(parameter(*x.pg, shared.p)) {}
};

/// The operations on these scores against all ways to cut, one by one; log_prob(operands, way) is
/// that of one.
template <class Operands, class LogProb>
void check_all_ways(const SegmentScores& c, LogProb log_prob) {
  using Way = std::vector<Segment>;
  const std::vector<Way> all = all_ways(c);
  const auto score_of = [&](const Way& y) { return score(c, y); };
  const Listed sums(all, c.scores.size(), score_of, [&](const Way& y) { return places(c, y); });
  ComputationGraph g;
  const Operands x(g, c);
  const Expression log_z = x.log_z(), m = x.marginals(), h = x.entropy();
  std::vector<Expression> each;
  std::vector<double> scores;
  for (const Way& y : all) each.push_back(log_prob(x, y)), scores.push_back(score_of(y));
  sums.check(g, log_z, m, h, each, scores);
}

}  // namespace dynet::test
