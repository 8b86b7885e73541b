// The best projective trees, and samples of them. Tables as in kernels/cpu/projective_trees.h, with
// maxima in place of sums: over the nodes i .. j, A has the arc from i to j, B the arc from j to i;
// in R all nodes are below i, in L below j. Each tree has one derivation.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "dynet-like/layers/search/draw.h"
#include "dynet-like/structures/dependency_trees/tree_decoding.h"

namespace dynet::trees {
namespace {

enum Kind : unsigned { kToRight, kToLeft, kRight, kLeft };

/// The two parts of a span that is split at k, 0 <= k < width.
struct Parts {
  Kind left, right;
  unsigned first_end, second_begin;  // nodes

  Parts(Kind kind, unsigned i, unsigned k)
      : left(kind == kRight  ? kToRight
             : kind == kLeft ? kLeft
                             : kRight),
        right(kind == kRight  ? kRight
              : kind == kLeft ? kToLeft
                              : kLeft),
        first_end(kind == kRight ? i + k + 1 : i + k),
        second_begin(kind == kRight || kind == kLeft ? first_end : i + k + 1) {}
};

/// The splits of a span. With a single root, one word, with all other words below it, is below 0.
struct Spans {
  unsigned nodes;
  bool single_root;

  unsigned splits(Kind kind, unsigned i, unsigned j) const {
    const bool arc = kind == kToRight || kind == kToLeft;
    if (i == 0 && (kind == kToLeft || kind == kLeft)) return 0;
    if (i == 0 && single_root && arc) return 1;
    if (i == 0 && single_root && j + 1 < nodes) return 0;
    return j - i;
  }
  std::size_t place(Kind kind, unsigned i, unsigned j) const {
    return (std::size_t{kind} * nodes + i) * nodes + j;
  }
  std::size_t places() const { return std::size_t{4} * nodes * nodes; }
};

double arc_of(const ArcScores& s, Kind kind, unsigned i, unsigned j) {
  return kind == kToRight ? s.arc(i, j) : kind == kToLeft ? s.arc(j, i) : 0;
}

/// f(kind, i, j) for all spans in order of dependency: shorter spans first.
template <class F>
void each_span(unsigned nodes, F f) {
  for (unsigned w = 1; w < nodes; ++w)
    for (unsigned i = 0; i + w < nodes; ++i)
      for (const Kind kind : {kToRight, kToLeft, kRight, kLeft}) f(kind, i, i + w);
}

/// Scores of the best trees of all spans. The rows that a sum reads are contiguous for both parts:
/// R and L are stored symmetrically, arcs by head and dependent.
class Viterbi {
 public:
  Viterbi(const ArcScores& s, bool single_root)
      : s_(s),
        n_(s.words + 1),
        single_root_(single_root),
        arcs_(std::size_t{n_} * n_, kForbidden),
        right_(arcs_),
        left_(arcs_) {
    for (unsigned i = 0; i < n_; ++i) right_[at(i, i)] = left_[at(i, i)] = 0;
    for (unsigned w = 1; w < n_; ++w)
      for (unsigned i = 0; i + w < n_; ++i) extend(i, i + w);
  }

  /// Returns whether there is a tree.
  bool possible() const { return right_[at(0, n_ - 1)] > kForbidden; }

  /// f(k) for each split of a span that attains the best score.
  template <class F>
  void each_best_split(Kind kind, unsigned i, unsigned j, F f) const {
    const unsigned splits = Spans{n_, single_root_}.splits(kind, i, j);
    const auto sum = [&](unsigned k) {
      const Parts p(kind, i, k);
      return value(p.left, i, p.first_end) + value(p.right, p.second_begin, j);
    };
    double best = kForbidden;
    for (unsigned k = 0; k < splits; ++k) best = std::max(best, sum(k));
    for (unsigned k = 0; k < splits && best > kForbidden; ++k)
      if (sum(k) == best) f(k);
  }

 private:
  std::size_t at(unsigned a, unsigned b) const { return std::size_t{a} * n_ + b; }

  static double most(const double* a, const double* b, unsigned n) {
    double m[4] = {kForbidden, kForbidden, kForbidden, kForbidden};
    unsigned k = 0;
    for (; k + 4 <= n; k += 4)
      for (unsigned l = 0; l < 4; ++l) {
        const double x = a[k + l] + b[k + l];
        m[l] = x > m[l] ? x : m[l];
      }
    for (; k < n; ++k) m[0] = std::max(m[0], a[k] + b[k]);
    return std::max(std::max(m[0], m[1]), std::max(m[2], m[3]));
  }

  void extend(unsigned i, unsigned j) {
    const unsigned w = j - i;
    const bool from_root = i == 0, alone = from_root && single_root_;
    const double shared = most(&right_[at(i, i)], &left_[at(j, i + 1)], alone ? 1 : w);
    arcs_[at(i, j)] = shared + s_.arc(i, j);
    if (!from_root) arcs_[at(j, i)] = shared + s_.arc(j, i);
    if (!alone || j + 1 == n_)
      right_[at(i, j)] = right_[at(j, i)] = most(&arcs_[at(i, i + 1)], &right_[at(j, i + 1)], w);
    if (!from_root) left_[at(i, j)] = left_[at(j, i)] = most(&left_[at(i, i)], &arcs_[at(j, i)], w);
  }

  double value(Kind kind, unsigned i, unsigned j) const {
    return kind == kToRight  ? arcs_[at(i, j)]
           : kind == kToLeft ? arcs_[at(j, i)]
           : kind == kRight  ? right_[at(i, j)]
                             : left_[at(i, j)];
  }

  const ArcScores& s_;
  unsigned n_;
  bool single_root_;
  std::vector<double> arcs_, right_, left_;
};

/// The lexicographically first of the best trees. All derivations of best trees are followed at
/// once, from the first word to the last; only those with the smallest head for the next word are
/// kept. They share the arc to that head, so all callers of the arc have the same heads so far, and
/// each span is opened once.
class First {
 public:
  First(const Viterbi& best, unsigned words)
      : best_(best),
        spans_{words + 1, false},
        heads_(words),
        callers_(spans_.places(), kNone),
        edges_(1),
        enough_(spans_.places() / 64) {}

  /// Empty if there is no tree, or if scores are NaN.
  std::vector<unsigned> run() {
    if (!best_.possible()) return {};
    enter({kRight, 0, spans_.nodes - 1}, {});
    for (unsigned& head : heads_) {
      if (ended_.empty()) open(kToRight, kRight);  // the head is an earlier node
      if (ended_.empty()) open(kToLeft, kLeft);    // the head is a later node
      std::vector<Span>& arcs = ended_.empty() ? begun_ : ended_;
      if (arcs.empty()) return {};
      const Span arc = *std::min_element(
          arcs.begin(), arcs.end(),
          [](const Span& a, const Span& b) { return a.i != b.i ? a.i < b.i : a.j < b.j; });
      head = arc.kind == kToRight ? arc.i : arc.j;
      ended_.clear(), begun_.clear(), waiting_.clear();
      forget_others(arc);
      if (arc.kind == kToRight)
        leave(arc);
      else
        split(arc);
    }
    return heads_;
  }

 private:
  struct Span {
    Kind kind = kRight;
    unsigned i = 0, j = 0;
  };
  /// A span that continues when one of its parts ends.
  struct Caller {
    Span span;  // none if i == j
    unsigned split = 0;
    bool last = true;  // whether the part was the right one
  };
  struct Edge {
    Caller caller;
    unsigned next = kNone;
  };
  static constexpr unsigned kNone = 0;

  unsigned& callers(const Span& s) { return callers_[spans_.place(s.kind, s.i, s.j)]; }

  void enter(const Span& s, const Caller& caller) {
    if (s.i == s.j) return go_on(caller);
    waiting_.push_back({s, caller});
  }

  void go_on(const Caller& c) {
    const Span& s = c.span;
    const Parts p(s.kind, s.i, c.split);
    if (!c.last) return enter({p.right, p.second_begin, s.j}, {s, c.split, true});
    if (s.i == s.j) return;
    if (s.kind == kToRight)
      ended_.push_back(s);
    else
      leave(s);
  }

  /// Continues all callers of a span that has ended, and removes them.
  void leave(const Span& s) {
    for (unsigned e = std::exchange(callers(s), kNone); e != kNone; e = edges_[e].next)
      go_on(Caller(edges_[e].caller));
  }

  void split(const Span& s) {
    best_.each_best_split(s.kind, s.i, s.j, [&](unsigned k) {
      const Parts p(s.kind, s.i, k);
      enter({p.left, s.i, p.first_end}, {s, k, false});
    });
  }

  /// Opens all waiting spans of these kinds, and the spans that they begin with.
  void open(Kind arc, Kind other) {
    for (std::size_t w = 0; w < waiting_.size(); ++w) {
      const auto [s, caller] = waiting_[w];
      if (s.kind != arc && s.kind != other) continue;
      unsigned& first = callers(s);
      const bool is_new = first == kNone;
      edges_.push_back({caller, first});
      first = static_cast<unsigned>(edges_.size() - 1);
      if (!is_new) continue;
      if (s.kind == kToLeft)
        begun_.push_back(s);
      else
        split(s);
    }
  }

  /// Removes all edges that the end of `arc` cannot reach, once there are enough of them.
  void forget_others(const Span& arc) {
    if (edges_.size() < enough_) return;
    std::vector<Edge> kept(1);
    std::vector<bool> seen(spans_.places(), false);
    std::vector<Span> left = {arc};
    while (!left.empty()) {
      const Span s = left.back();
      left.pop_back();
      if (s.i == s.j || seen[spans_.place(s.kind, s.i, s.j)]) continue;
      seen[spans_.place(s.kind, s.i, s.j)] = true;
      unsigned first = kNone;
      for (unsigned e = callers(s); e != kNone; e = edges_[e].next) {
        kept.push_back({edges_[e].caller, first});
        first = static_cast<unsigned>(kept.size() - 1);
        left.push_back(edges_[e].caller.span);
      }
      callers(s) = first;
    }
    edges_ = std::move(kept);
    enough_ = std::max(enough_, 2 * edges_.size());
  }

  const Viterbi& best_;
  const Spans spans_;
  std::vector<unsigned> heads_;
  std::vector<unsigned> callers_;  // by span, index of its first edge
  std::vector<Edge> edges_;
  std::size_t enough_;                            // number of edges that starts a removal
  std::vector<std::pair<Span, Caller>> waiting_;  // to be opened at the next word
  std::vector<Span> ended_, begun_;               // arcs that determine the head of the next word
};

/// The n best trees of each span.
class Lattice {
 public:
  Lattice(const ArcScores& s, std::size_t n, bool single_root)
      : s_(s), spans_{s.words + 1, single_root}, n_(n), best_(spans_.places()) {
    for (unsigned i = 0; i < spans_.nodes; ++i)
      for (const Kind kind : {kRight, kLeft}) best_[spans_.place(kind, i, i)] = {{0, 0, 0, 0}};
    each_span(spans_.nodes, [&](Kind kind, unsigned i, unsigned j) { extend(kind, i, j); });
  }

  std::vector<ScoredTree> best() const {
    std::vector<ScoredTree> all;
    const auto& whole = best_[spans_.place(kRight, 0, s_.words)];
    for (unsigned k = 0; k < whole.size(); ++k) {
      all.push_back({std::vector<unsigned>(s_.words), 0});
      spell(kRight, 0, s_.words, whole[k], all.back().heads.data() - 1);
      all.back().score = score_of(s_, all.back().heads);
    }
    std::stable_sort(all.begin(), all.end(), comes_before);  // rounding may change the order
    return all;
  }

 private:
  /// Tree `first` of the left part and tree `second` of the right part, split at `split`.
  struct Way {
    double score;
    unsigned split, first, second;
  };
  struct Candidate {
    Way way;
    std::vector<unsigned> heads;  // filled in on demand
  };

  // Fills in heads[d] for each word d of the span.
  void spell(Kind kind, unsigned i, unsigned j, const Way& way, unsigned* heads) const {
    if (i == j) return;
    if (kind == kToRight) heads[j] = i;
    if (kind == kToLeft) heads[i] = j;
    const Parts p(kind, i, way.split);
    spell(p.left, i, p.first_end, best_[spans_.place(p.left, i, p.first_end)][way.first], heads);
    spell(p.right, p.second_begin, j, best_[spans_.place(p.right, p.second_begin, j)][way.second],
          heads);
  }

  void extend(Kind kind, unsigned i, unsigned j) {
    const double arc = arc_of(s_, kind, i, j);
    std::vector<Candidate> ways;
    for (unsigned k = 0; k < spans_.splits(kind, i, j); ++k) {
      const Parts p(kind, i, k);
      const auto& first = best_[spans_.place(p.left, i, p.first_end)];
      const auto& second = best_[spans_.place(p.right, p.second_begin, j)];
      for (unsigned a = 0; a < first.size(); ++a)  // (a + 1) (b + 1) - 1 ways are at least as good
        for (unsigned b = 0; b < second.size() && (a + 1) * std::size_t{b + 1} <= n_; ++b) {
          const double score = first[a].score + second[b].score + arc;
          if (score > kForbidden) ways.push_back({{score, k, a, b}, {}});
        }
    }
    const auto spelled = [&](Candidate& c) -> const std::vector<unsigned>& {
      if (c.heads.empty()) {
        c.heads.resize(j - i + 1);
        spell(kind, i, j, c.way, c.heads.data() - i);
      }
      return c.heads;
    };
    std::vector<Candidate*> order;
    for (Candidate& c : ways) order.push_back(&c);
    const std::size_t kept = std::min(n_, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                      [&](Candidate* a, Candidate* b) {
                        if (a->way.score != b->way.score) return a->way.score > b->way.score;
                        return a != b && spelled(*a) < spelled(*b);
                      });
    auto& best = best_[spans_.place(kind, i, j)];
    for (std::size_t k = 0; k < kept; ++k) best.push_back(order[k]->way);
  }

  const ArcScores& s_;
  Spans spans_;
  std::size_t n_;
  std::vector<std::vector<Way>> best_;  // by span
};

/// Log sums over the trees of all spans.
class Inside {
 public:
  Inside(const ArcScores& s, bool single_root)
      : s_(s), spans_{s.words + 1, single_root}, sums_(spans_.places(), kForbidden) {
    for (unsigned i = 0; i < spans_.nodes; ++i)
      for (const Kind kind : {kRight, kLeft}) sums_[spans_.place(kind, i, i)] = 0;
    std::vector<double> ways;
    each_span(spans_.nodes, [&](Kind kind, unsigned i, unsigned j) {
      find_ways(kind, i, j, ways);
      if (ways.empty()) return;
      const double sum = nn_detail::log_sum(ways);
      if (sum > kForbidden) sums_[spans_.place(kind, i, j)] = sum + arc_of(s_, kind, i, j);
    });
  }

  /// Returns false if there is no tree.
  bool draw_span(Kind kind, unsigned i, unsigned j, const RandomStream& random,
                 std::uint64_t& draws, std::vector<unsigned>& heads) const {
    if (i == j) return true;
    if (kind == kToRight) heads[j - 1] = i;
    if (kind == kToLeft) heads[i - 1] = j;
    std::vector<double> ways;
    find_ways(kind, i, j, ways);
    const std::size_t k = nn_detail::draw_by_score(ways, random.uniform(draws++));
    if (k == ways.size()) return false;
    const Parts p(kind, i, static_cast<unsigned>(k));
    return draw_span(p.left, i, p.first_end, random, draws, heads) &&
           draw_span(p.right, p.second_begin, j, random, draws, heads);
  }

 private:
  void find_ways(Kind kind, unsigned i, unsigned j, std::vector<double>& ways) const {
    ways.clear();
    for (unsigned k = 0; k < spans_.splits(kind, i, j); ++k) {
      const Parts p(kind, i, k);
      ways.push_back(sums_[spans_.place(p.left, i, p.first_end)] +
                     sums_[spans_.place(p.right, p.second_begin, j)]);
    }
  }

  const ArcScores& s_;
  Spans spans_;
  std::vector<double> sums_;
};

}  // namespace

std::vector<unsigned> first_projective(const ArcScores& scores, bool single_root) {
  return First(Viterbi(scores, single_root), scores.words).run();
}

std::vector<ScoredTree> best_projective(const ArcScores& scores, std::size_t n, bool single_root) {
  return Lattice(scores, n, single_root).best();
}

std::vector<unsigned> sample_projective(const ArcScores& scores, const RandomStream& random,
                                        bool single_root) {
  std::vector<unsigned> heads(scores.words);
  std::uint64_t draws = 0;
  const Inside inside(scores, single_root);
  return inside.draw_span(kRight, 0, scores.words, random, draws, heads) ? heads
                                                                         : std::vector<unsigned>();
}

}  // namespace dynet::trees
