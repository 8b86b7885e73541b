#include "dynet-like/structures/semi_crf/segment_decoding.h"

#include <algorithm>
#include <limits>

#include "dynet-like/base/random.h"
#include "dynet-like/layers/search/draw.h"
#include "dynet-like/layers/support.h"

namespace dynet {
namespace {

constexpr double kNoWay = -std::numeric_limits<double>::infinity();

/// The n best paths from each position to the end of the sentence; of equal scores the
/// lexicographically first is then found from the front.
class SegmentLattice {
 public:
  SegmentLattice(const SegmentScores& scores, std::size_t n)
      : s_(scores), n_(n), after_(s_.length + 1), from_(s_.length) {
    for (unsigned t = s_.length + 1; t-- > 0;) {
      if (t < s_.length) {
        from_[t].resize(s_.labels);
        for (unsigned j = 0; j < s_.labels; ++j) begin_segment(t, j);
      }
      after_[t].resize(t > 0 ? s_.labels : 1);
      for (unsigned i = 0; i < after_[t].size(); ++i) choose_label(t, i);
    }
  }

  std::vector<ScoredSegments> best() const {
    std::vector<ScoredSegments> all;
    for (const Way& way : after_[0][0]) {
      all.push_back({{}, way.score});
      Way at = way;
      for (unsigned t = 0; t < s_.length;) {
        const Way& cut = from_[t][at.choice][at.which];
        all.back().segments.push_back({at.choice, cut.choice});
        t += cut.choice;
        at = after_[t][all.back().segments.back().label][cut.which];
      }
    }
    return all;
  }

 private:
  /// A path to the end: a choice (label or length), followed by path `which` from the next place.
  struct Way {
    double score;
    unsigned choice;
    std::uint32_t which;
  };
  using Ways = std::vector<Way>;

  static void offer(double score, unsigned choice, std::uint32_t which, Ways& ways) {
    if (score > kNoWay) ways.push_back({score, choice, which});
  }

  // Paths from t after a segment of label i; at t = 0 there is no such segment.
  void choose_label(unsigned t, unsigned i) {
    Ways& ways = after_[t][i];
    if (t == s_.length) return offer(t == 0 ? 0 : static_cast<double>(s_.stop[i]), 0, 0, ways);
    for (unsigned j = 0; j < s_.labels; ++j) {
      const double step = t == 0 ? static_cast<double>(s_.start[j]) : s_.transition(i, j);
      for (std::uint32_t k = 0; k < from_[t][j].size(); ++k)
        offer(from_[t][j][k].score + step, j, k, ways);
    }
    keep_best(ways, [&](const Way& a, const Way& b) {
      return a.choice != b.choice ? a.choice < b.choice
                                  : cut_is_first(t, a.choice, a.which, b.which);
    });
  }

  // Paths from t with a segment of label j that begins there.
  void begin_segment(unsigned t, unsigned j) {
    Ways& ways = from_[t][j];
    for (unsigned l = 1; l <= s_.longest && t + l <= s_.length; ++l)
      for (std::uint32_t k = 0; k < after_[t + l][j].size(); ++k)
        offer(after_[t + l][j][k].score + s_.segment(t + l - 1, l, j), l, k, ways);
    keep_best(ways, [&](const Way& a, const Way& b) {
      return a.choice != b.choice ? a.choice < b.choice
                                  : label_is_first(t + a.choice, j, a.which, b.which);
    });
  }

  // Returns whether path a is lexicographically before path b from the same place.
  bool cut_is_first(unsigned t, unsigned j, std::uint32_t a, std::uint32_t b) const {
    if (a == b) return false;
    const Way &x = from_[t][j][a], &y = from_[t][j][b];
    return x.choice != y.choice ? x.choice < y.choice
                                : label_is_first(t + x.choice, j, x.which, y.which);
  }
  bool label_is_first(unsigned t, unsigned i, std::uint32_t a, std::uint32_t b) const {
    if (a == b) return false;
    const Way &x = after_[t][i][a], &y = after_[t][i][b];
    return x.choice != y.choice ? x.choice < y.choice : cut_is_first(t, x.choice, x.which, y.which);
  }

  template <class First>
  void keep_best(Ways& ways, First first) const {
    nn_detail::keep_best(ways, n_, [&](const Way& a, const Way& b) {
      return a.score != b.score ? a.score > b.score : first(a, b);
    });
  }

  const SegmentScores& s_;
  std::size_t n_;
  std::vector<std::vector<Ways>> after_, from_;  // by position and label
};

void need_scores(const char* who, const SegmentScores& s) {
  for (const auto* scores : {&s.scores, &s.transitions, &s.start, &s.stop})
    nn_detail::need_scores(who, *scores);
}

}  // namespace

std::vector<ScoredSegments> best_segments(const SegmentScores& scores, std::size_t n) {
  need_scores("best_segments", scores);
  if (n == 0) return {};
  return SegmentLattice(scores, n).best();
}

std::vector<Segment> sample_segments(const SegmentScores& s, std::uint64_t key) {
  need_scores("sample_segments", s);
  if (s.length == 0) return {};
  // Log sums over the paths to the end: after a segment of label i, and from a segment of label j.
  std::vector<std::vector<double>> after(s.length + 1), from(s.length);
  const auto labels = [&](unsigned t, unsigned i) {
    std::vector<double> ways;
    for (unsigned j = 0; j < s.labels; ++j)
      ways.push_back((t == 0 ? static_cast<double>(s.start[j]) : s.transition(i, j)) + from[t][j]);
    return ways;
  };
  const auto lengths = [&](unsigned t, unsigned j) {
    std::vector<double> ways;
    for (unsigned l = 1; l <= s.longest && t + l <= s.length; ++l)
      ways.push_back(s.segment(t + l - 1, l, j) + after[t + l][j]);
    return ways;
  };
  for (unsigned t = s.length + 1; t-- > 0;) {
    for (unsigned j = 0; j < s.labels && t < s.length; ++j)
      from[t].push_back(nn_detail::log_sum(lengths(t, j)));
    for (unsigned i = 0; i < s.labels && t > 0; ++i)
      after[t].push_back(t == s.length ? static_cast<double>(s.stop[i])
                                       : nn_detail::log_sum(labels(t, i)));
  }
  if (nn_detail::log_sum(labels(0, 0)) == kNoWay) return {};
  const RandomStream random(key);
  std::uint64_t draws = 0;
  std::vector<Segment> segments;
  for (unsigned t = 0; t < s.length; t += segments.back().length) {
    const unsigned before = segments.empty() ? 0 : segments.back().label;
    const std::size_t label = nn_detail::draw_by_score(labels(t, before), random.uniform(draws++));
    const std::size_t length =
        nn_detail::draw_by_score(lengths(t, static_cast<unsigned>(label)), random.uniform(draws++));
    segments.push_back({static_cast<unsigned>(label), 1 + static_cast<unsigned>(length)});
  }
  return segments;
}

}  // namespace dynet
