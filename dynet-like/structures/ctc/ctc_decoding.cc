#include "dynet-like/structures/ctc/ctc_decoding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/random.h"
#include "dynet-like/layers/search/draw.h"
#include "dynet-like/layers/support.h"

namespace dynet {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

/// Prefix beam search. All prefixes that were kept at some frame form a tree.
class BeamSearch {
 public:
  BeamSearch(const CtcScores& scores, const CtcBeam& beam)
      : s_(scores), beam_(beam), tree_(1), kept_(1) {
    kept_[0].blank = 0;
    for (unsigned t = 0; t < s_.frames; ++t) step(t);
  }

  std::vector<ScoredLabels> best() {
    if (beam_.finish)
      for (Prefix& p : kept_) p.given += beam_.finish(labels(p));
    keep_best(kept_, beam_.n);
    std::vector<ScoredLabels> results;
    for (const Prefix& p : kept_) results.push_back({labels(p), p.score()});
    return results;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// A prefix in the tree; `place` is its index among the current frame's prefixes, or kNone.
  struct Known {
    std::uint32_t parent = kNone;
    unsigned label = 0;
    double given = 0;
    std::uint32_t place = kNone;
  };
  /// A prefix of a frame: log sums of its alignments, by whether they end in a blank, and the sum
  /// `given` of the results of `extend`.
  struct Prefix {
    std::uint32_t known = 0, parent = kNone;
    unsigned label = 0;
    double given = 0, blank = kImpossible, other = kImpossible;

    double score() const { return nn_detail::log_add(blank, other) + given; }
  };

  void step(unsigned t) {
    std::vector<Prefix> next = kept_;
    for (std::uint32_t k = 0; k < kept_.size(); ++k) {
      next[k].blank = next[k].other = kImpossible;
      tree_[kept_[k].known].place = k;
    }
    for (std::uint32_t k = 0; k < kept_.size(); ++k) {
      const Prefix& p = kept_[k];
      const double all = nn_detail::log_add(p.blank, p.other);
      for (unsigned v = 0; v < s_.symbols; ++v) {
        const double score = s_.score(t, v);
        // A repeated symbol is one label unless a blank is between.
        const bool repeats = p.known != 0 && v == p.label;
        if (v == s_.blank) {
          next[k].blank = all + score;
        } else {
          if (repeats) next[k].other = nn_detail::log_add(next[k].other, p.other + score);
          extend(p, v, (repeats ? p.blank : all) + score, next);
        }
      }
    }
    for (const Prefix& p : kept_) tree_[p.known].place = kNone;
    keep_best(next, beam_.width);
    kept_ = next;
    for (Prefix& p : kept_)
      if (p.known == kNone) {
        p.known = children_[key(p.parent, p.label)] = static_cast<std::uint32_t>(tree_.size());
        tree_.push_back({p.parent, p.label, p.given});
      }
  }

  void extend(const Prefix& p, unsigned label, double score, std::vector<Prefix>& next) {
    if (!(score > kImpossible)) return;
    const auto at = children_.find(key(p.known, label));
    const bool known = at != children_.end();
    if (known && tree_[at->second].place != kNone) {
      Prefix& same = next[tree_[at->second].place];
      same.other = nn_detail::log_add(same.other, score);
      return;
    }
    Prefix longer{known ? at->second : kNone, p.known, label, p.given, kImpossible, score};
    if (known)
      longer.given = tree_[at->second].given;
    else if (beam_.extend)
      longer.given += beam_.extend(labels(p), label);
    next.push_back(longer);
  }

  std::uint64_t key(std::uint32_t parent, unsigned label) const {
    return std::uint64_t{parent} * s_.symbols + label;
  }
  std::vector<unsigned> labels(const Prefix& p) const {
    std::vector<unsigned> y;
    if (p.parent == kNone) return y;
    y.push_back(p.label);
    for (std::uint32_t at = p.parent; at != 0; at = tree_[at].parent) y.push_back(tree_[at].label);
    std::reverse(y.begin(), y.end());
    return y;
  }
  /// Keeps the n best, sorted.
  void keep_best(std::vector<Prefix>& some, std::size_t n) const {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t k = 0; k < some.size(); ++k)
      if (const double score = some[k].score(); score > kImpossible) order.emplace_back(score, k);
    n = std::min(n, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n), order.end(),
                      [&](const auto& a, const auto& b) {
                        return a.first != b.first ? a.first > b.first
                                                  : labels(some[a.second]) < labels(some[b.second]);
                      });
    std::vector<Prefix> best;
    for (std::size_t k = 0; k < n; ++k) best.push_back(some[order[k].second]);
    some = best;
  }

  const CtcScores& s_;
  const CtcBeam& beam_;
  std::vector<Known> tree_;  // tree_[0] is the empty prefix
  std::unordered_map<std::uint64_t, std::uint32_t> children_;
  std::vector<Prefix> kept_;
};

}  // namespace

std::vector<unsigned> ctc_collapse(std::span<const unsigned> symbols, unsigned blank) {
  std::vector<unsigned> labels;
  for (std::size_t t = 0; t < symbols.size(); ++t)
    if (symbols[t] != blank && (t == 0 || symbols[t] != symbols[t - 1]))
      labels.push_back(symbols[t]);
  return labels;
}

ScoredAlignment ctc_best_path(const CtcScores& s) {
  nn_detail::need_scores("ctc_best_path", s.log_probs);
  ScoredAlignment path{{}, 0};
  for (unsigned t = 0; t < s.frames; ++t) {
    const auto column =
        s.log_probs.begin() + static_cast<std::ptrdiff_t>(std::size_t{t} * s.symbols);
    const auto best = std::max_element(column, column + s.symbols);
    path.symbols.push_back(static_cast<unsigned>(best - column));
    path.score += static_cast<double>(*best);
  }
  return path;
}

ScoredAlignment ctc_best_alignment(const CtcScores& s, std::span<const unsigned> labels) {
  nn_detail::need_scores("ctc_best_alignment", s.log_probs);
  const std::size_t n = 2 * labels.size() + 1;
  if (s.frames == 0) return {{}, n == 1 ? 0 : kImpossible};
  const auto symbol = [&](std::size_t state) { return state % 2 ? labels[state / 2] : s.blank; };
  const auto reaches = [&](std::size_t from, std::size_t to) {
    return to < n && (to < from + 2 || (to % 2 && symbol(to) != symbol(from)));
  };
  // By frame and state, the best score from there to the end; the alignment is read off from the
  // front, so that the first of equal symbols wins. The successors of a state have distinct
  // symbols.
  std::vector<double> best(n * s.frames, kImpossible);
  const auto at = [&](std::size_t t, std::size_t state) -> double& { return best[t * n + state]; };
  for (unsigned t = s.frames; t-- > 0;)
    for (std::size_t k = 0; k < n; ++k) {
      double rest = t + 1 == s.frames && k + 2 >= n ? 0 : kImpossible;
      for (std::size_t to = k; t + 1 < s.frames && to < k + 3; ++to)
        if (reaches(k, to)) rest = std::max(rest, at(t + 1, to));
      at(t, k) = s.score(t, symbol(k)) + rest;
    }
  ScoredAlignment found{{}, 0};
  std::size_t state = 0;
  for (unsigned t = 0; t < s.frames; ++t) {
    std::size_t next = n;
    for (std::size_t to = state; to < state + 3; ++to) {
      if (t == 0 ? to >= std::min<std::size_t>(n, 2) : !reaches(state, to)) continue;
      if (next == n || at(t, to) > at(t, next) ||
          (at(t, to) == at(t, next) && symbol(to) < symbol(next)))
        next = to;
    }
    if (!(at(t, next) > kImpossible)) return {{}, kImpossible};
    state = next;
    found.symbols.push_back(symbol(state));
    found.score += s.score(t, symbol(state));
  }
  return found;
}

std::vector<unsigned> ctc_sample(const CtcScores& s, std::uint64_t key) {
  nn_detail::need_scores("ctc_sample", s.log_probs);
  const RandomStream random(key);
  std::vector<unsigned> symbols;
  std::vector<double> frame(s.symbols);
  for (unsigned t = 0; t < s.frames; ++t) {
    for (unsigned v = 0; v < s.symbols; ++v) frame[v] = s.score(t, v);
    const std::size_t drawn = nn_detail::draw_by_score(frame, random.uniform(t));
    if (drawn == frame.size()) return {};
    symbols.push_back(static_cast<unsigned>(drawn));
  }
  return ctc_collapse(symbols, s.blank);
}

std::vector<ScoredLabels> ctc_beam_search(const CtcScores& scores, const CtcBeam& beam) {
  nn_detail::need_scores("ctc_beam_search", scores.log_probs);
  return BeamSearch(scores, beam).best();
}

CtcScores CtcDecoder::values(const char* who, const Expression& log_probs,
                             SourceLocation at) const {
  const Dim d = log_probs.dim(at);
  if (d.bd > 1 || d.rank() > 2)
    nn_detail::fail(who, "takes the log-probabilities of one utterance, got " + to_string(d), at);
  if (blank_ >= d.rows())
    nn_detail::fail(who,
                    "the blank " + std::to_string(blank_) + " is outside the " +
                        std::to_string(d.rows()) + " symbols",
                    at);
  return {d.rows(), d.cols(), as_vector(log_probs.value(at)), blank_};
}

std::vector<unsigned> CtcDecoder::best(const Expression& log_probs, SourceLocation at) const {
  const std::vector<ScoredLabels> all = best(log_probs, 1, at);
  if (all.empty()) nn_detail::nothing_allowed("best", at);
  return all[0].labels;
}
std::vector<ScoredLabels> CtcDecoder::best(const Expression& log_probs, std::size_t n,
                                           SourceLocation at) const {
  CtcBeam beam = beam_;
  beam.n = n;
  return ctc_beam_search(values("best", log_probs, at), beam);
}
std::vector<unsigned> CtcDecoder::greedy(const Expression& log_probs, SourceLocation at) const {
  return ctc_collapse(ctc_best_path(values("greedy", log_probs, at)).symbols, blank_);
}
ScoredAlignment CtcDecoder::align(const Expression& log_probs, std::span<const unsigned> labels,
                                  SourceLocation at) const {
  const CtcScores scores = values("align", log_probs, at);
  for (const unsigned y : labels)
    if (y >= scores.symbols || y == blank_)
      nn_detail::fail("align", "there is no label " + std::to_string(y), at);
  return ctc_best_alignment(scores, labels);
}
std::vector<unsigned> CtcDecoder::sample(const Expression& log_probs, std::uint64_t key,
                                         SourceLocation at) const {
  return ctc_sample(values("sample", log_probs, at), key);
}

}  // namespace dynet
