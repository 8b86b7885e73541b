#include "dynet-like/structures/crf/chain_decoding.h"

#include <algorithm>
#include <limits>

#include "dynet-like/base/random.h"
#include "dynet-like/layers/search/draw.h"
#include "dynet-like/layers/support.h"

namespace dynet {
namespace {

constexpr double kForbidden = -std::numeric_limits<double>::infinity();

/// The n best paths to each tag at each position.
class Lattice {
 public:
  Lattice(const ChainScores& scores, std::size_t n) : s_(scores), n_(n), ways_(s_.length) {
    for (unsigned t = 0; t < s_.length; ++t) {
      ways_[t].resize(s_.tags);
      for (unsigned j = 0; j < s_.tags; ++j) extend(t, j);
    }
  }

  std::vector<ScoredTags> best() const {
    std::vector<Way> last;
    for (unsigned j = 0; j < s_.tags; ++j)
      for (std::uint32_t k = 0; k < ways_.back()[j].size(); ++k)
        offer({ways_.back()[j][k].score + static_cast<double>(s_.stop[j]), j, k}, last);
    keep_best(s_.length, last);
    std::vector<ScoredTags> all;
    for (const Way& way : last) {
      all.push_back({std::vector<unsigned>(s_.length), way.score});
      Way at = way;
      for (unsigned t = s_.length; t-- > 0; at = ways_[t][at.before][at.which])
        all.back().tags[t] = at.before;
    }
    return all;
  }

 private:
  /// A path to a tag: it extends path `which` to the tag `before`.
  struct Way {
    double score;
    unsigned before;
    std::uint32_t which;
  };

  static void offer(const Way& way, std::vector<Way>& ways) {
    if (way.score > kForbidden) ways.push_back(way);
  }

  void extend(unsigned t, unsigned j) {
    std::vector<Way>& ways = ways_[t][j];
    const double emission = s_.emission(t, j);
    if (t == 0) return offer({static_cast<double>(s_.start[j]) + emission, 0, 0}, ways);
    for (unsigned i = 0; i < s_.tags; ++i) {
      const double step = s_.transition(t, i, j);
      for (std::uint32_t k = 0; k < ways_[t - 1][i].size(); ++k)
        offer({ways_[t - 1][i][k].score + step + emission, i, k}, ways);
    }
    keep_best(t, ways);
  }

  // Keeps the n best of the paths to a tag at position t.
  void keep_best(unsigned t, std::vector<Way>& ways) const {
    nn_detail::keep_best(ways, n_, [&](const Way& a, const Way& b) {
      return a.score != b.score ? a.score > b.score : comes_first(t, a, b);
    });
  }

  // Returns whether the tags of path a before position t are lexicographically before those of b.
  bool comes_first(unsigned t, Way a, Way b) const {
    bool first = false;
    while (t-- > 0) {  // the earliest difference decides
      if (a.before == b.before && a.which == b.which) break;
      if (a.before != b.before) first = a.before < b.before;
      a = ways_[t][a.before][a.which];
      b = ways_[t][b.before][b.which];
    }
    return first;
  }

  const ChainScores& s_;
  std::size_t n_;
  std::vector<std::vector<std::vector<Way>>> ways_;  // by position and tag
};

/// Lattice for n = 1, faster: stores only the best scores, and finds their paths from the end.
class Viterbi {
 public:
  explicit Viterbi(const ChainScores& scores)
      : s_(scores),
        n_(scores.tags),
        steps_(std::size_t{n_} * n_),
        best_(std::size_t{n_} * s_.length) {
    for (unsigned j = 0; j < n_; ++j)
      best_[j] = static_cast<double>(s_.start[j]) + s_.emission(0, j);
    for (unsigned t = 1; t < s_.length; ++t) extend(t);
  }

  std::vector<ScoredTags> best() const {
    const double* const last = at(s_.length - 1);
    double score = kForbidden;
    for (unsigned j = 0; j < n_; ++j)
      score = std::max(score, last[j] + static_cast<double>(s_.stop[j]));
    if (!(score > kForbidden)) return {};
    // By position, the tags on any best path; the first path is read off from the front.
    std::vector<std::vector<unsigned>> tags(s_.length);
    for (unsigned j = 0; j < n_; ++j)
      if (last[j] + static_cast<double>(s_.stop[j]) == score) tags.back().push_back(j);
    for (unsigned t = s_.length - 1; t > 0; --t)
      for (unsigned i = 0; i < n_; ++i)
        if (std::any_of(tags[t].begin(), tags[t].end(), [&](unsigned j) { return leads(t, i, j); }))
          tags[t - 1].push_back(i);
    ScoredTags result{{tags[0][0]}, score};
    for (unsigned t = 1; t < s_.length; ++t)
      result.tags.push_back(*std::find_if(tags[t].begin(), tags[t].end(), [&](unsigned j) {
        return leads(t, result.tags.back(), j);
      }));
    return {result};
  }

 private:
  const double* at(unsigned t) const { return best_.data() + std::size_t{t} * n_; }

  double score(unsigned t, unsigned i, unsigned j) const {
    return at(t - 1)[i] + s_.transition(t, i, j) + s_.emission(t, j);
  }
  // Returns whether a best path to tag j at t comes from tag i.
  bool leads(unsigned t, unsigned i, unsigned j) const {
    return at(t)[j] > kForbidden && score(t, i, j) == at(t)[j];
  }

  void extend(unsigned t) {
    if (t == 1 || s_.transitions.size() > steps_.size())
      for (unsigned i = 0; i < n_; ++i)
        for (unsigned j = 0; j < n_; ++j) steps_[std::size_t{i} * n_ + j] = s_.transition(t, i, j);
    const double* const before = at(t - 1);
    double* const now = best_.data() + std::size_t{t} * n_;
    const float* const emissions = s_.emissions.data() + std::size_t{t} * n_;
    std::fill_n(now, n_, kForbidden);
    for (unsigned i = 0; i < n_; ++i) {
      const double* const steps = steps_.data() + std::size_t{i} * n_;
      const double from = before[i];
      for (unsigned j = 0; j < n_; ++j) {
        const double reached = from + steps[j] + static_cast<double>(emissions[j]);
        now[j] = reached > now[j] ? reached : now[j];
      }
    }
  }

  const ChainScores& s_;
  unsigned n_;
  std::vector<double> steps_;  // for the current position, by previous tag and tag
  std::vector<double> best_;   // by position and tag
};

void need_scores(const char* who, const ChainScores& s) {
  for (const auto* scores : {&s.emissions, &s.transitions, &s.start, &s.stop})
    nn_detail::need_scores(who, *scores);
}

}  // namespace

std::vector<ScoredTags> best_sequences(const ChainScores& scores, std::size_t n) {
  need_scores("best_sequences", scores);
  if (n == 0) return {};
  if (scores.length == 0) return {{{}, 0.0}};
  if (n == 1) return Viterbi(scores).best();
  return Lattice(scores, n).best();
}

std::vector<unsigned> sample_sequence(const ChainScores& s, std::uint64_t key) {
  need_scores("sample_sequence", s);
  if (s.length == 0) return {};
  std::vector<std::vector<double>> forward(s.length, std::vector<double>(s.tags));
  std::vector<double> ways(s.tags);
  for (unsigned t = 0; t < s.length; ++t)
    for (unsigned j = 0; j < s.tags; ++j) {
      double sum = static_cast<double>(s.start[j]);
      if (t > 0) {
        for (unsigned i = 0; i < s.tags; ++i) ways[i] = forward[t - 1][i] + s.transition(t, i, j);
        sum = nn_detail::log_sum(ways);
      }
      forward[t][j] = sum + s.emission(t, j);
    }
  const RandomStream random(key);
  std::vector<unsigned> tags(s.length);
  for (unsigned t = s.length; t-- > 0;) {
    for (unsigned j = 0; j < s.tags; ++j)
      ways[j] = forward[t][j] + (t + 1 == s.length ? static_cast<double>(s.stop[j])
                                                   : s.transition(t + 1, j, tags[t + 1]));
    const std::size_t tag = nn_detail::draw_by_score(ways, random.uniform(t));
    if (tag == ways.size()) return {};
    tags[t] = static_cast<unsigned>(tag);
  }
  return tags;
}

}  // namespace dynet
