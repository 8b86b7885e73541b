// The best of all dependency trees, projective or not.
#include <algorithm>
#include <queue>
#include <utility>

#include "dynet-like/nn/tree_decoding.h"

namespace dynet::trees {
namespace {

constexpr unsigned kNone = ~0u;

/// A sum of scores where each arc from the root costs more than all scores: so the tree with the
/// fewest such arcs is best, and of these the one with the best score. Nothing is rounded by it.
struct Value {
  int roots = 0;  // times minus one, if they count
  double score = kForbidden;

  bool possible() const { return score > kForbidden; }
  friend bool operator<(const Value& a, const Value& b) {
    return a.roots != b.roots ? a.roots < b.roots : a.score < b.score;
  }
  friend bool operator==(const Value& a, const Value& b) {
    return a.roots == b.roots && a.score == b.score;
  }
  friend Value operator-(const Value& a, const Value& b) {
    return {a.roots - b.roots, a.score - b.score};
  }
};

/// Which heads words may have, as a matrix [dependent, head].
class Choices {
 public:
  explicit Choices(unsigned words) : nodes_(words + 1), allowed_(nodes_ * nodes_, true) {
    for (unsigned d = 1; d < nodes_; ++d) forbid(d, d);
  }
  bool allows(unsigned d, unsigned h) const { return allowed_[at(d, h)]; }
  void forbid(unsigned d, unsigned h) { allowed_[at(d, h)] = false; }
  void fix(unsigned d, unsigned h) {
    for (unsigned k = 0; k < nodes_; ++k)
      if (k != h) forbid(d, k);
  }

 private:
  std::size_t at(unsigned d, unsigned h) const { return std::size_t{d} * nodes_ + h; }

  unsigned nodes_;
  std::vector<bool> allowed_;
};

/// The algorithm of Chu and Liu (1965) and Edmonds (1967): each word takes its best head; a cycle
/// becomes one node, into which an arc costs what its word loses.
class Edmonds {
 public:
  Edmonds(const ArcScores& s, const Choices& choices, bool single_root)
      : nodes_(s.words + 1),
        most_(2 * nodes_),
        arcs_(std::size_t{most_} * most_),
        chosen_(most_, 0),
        inside_(most_, kNone),
        active_(nodes_) {
    for (unsigned d = 1; d < nodes_; ++d)
      for (unsigned h = 0; h < nodes_; ++h)
        if (choices.allows(d, h))
          arc(h, d) = {{single_root && h == 0 ? -1 : 0, s.arc(h, d)}, h, d, false};
    for (unsigned v = 0; v < nodes_; ++v) active_[v] = v;
    possible_ = run();
    if (!possible_) return;
    heads_.assign(s.words, 0);
    open();
    if (single_root && std::count(heads_.begin(), heads_.end(), 0u) > 1) possible_ = false;
  }

  bool possible() const { return possible_; }
  /// Whether another tree may be as good.
  bool tied() const { return tied_; }
  const std::vector<unsigned>& heads() const { return heads_; }

 private:
  /// From one node to another, by the arc between two words that is the best for it.
  struct Arc {
    Value value;
    unsigned head = 0, dependent = 0;
    bool tied = false;  // another is as good
  };

  Arc& arc(unsigned from, unsigned to) { return arcs_[std::size_t{to} * most_ + from]; }

  // Keeps the better one.
  static void offer(const Arc& a, Arc& best) {
    if (!a.value.possible()) return;
    if (!best.value.possible() || best.value < a.value)
      best = a;
    else if (best.value == a.value)
      best.tied = true;
  }

  bool choose(unsigned v) {
    Arc best;
    for (const unsigned u : active_) {
      const Arc& a = arc(u, v);
      if (u == v || !a.value.possible()) continue;
      if (!best.value.possible() || best.value < a.value) chosen_[v] = u;
      offer(a, best);
    }
    arc(v, v) = best;  // where nothing else is
    return best.value.possible();
  }

  bool run() {
    unsigned next = nodes_;
    std::vector<unsigned> waiting(active_.begin() + 1, active_.end());
    while (!waiting.empty()) {
      for (const unsigned v : waiting)
        if (!choose(v)) return false;
      waiting.clear();
      const std::vector<unsigned> cycle = find_cycle();
      if (cycle.empty()) break;
      contract(cycle, next);
      // Heads inside the cycle are now its node: the choice of others stays as good as it was.
      for (unsigned& u : chosen_)
        if (u < next && std::find(cycle.begin(), cycle.end(), u) != cycle.end()) u = next;
      waiting.push_back(next++);
    }
    for (const unsigned v : active_)
      if (v != 0 && arc(v, v).tied) tied_ = true;
    return true;
  }

  std::vector<unsigned> find_cycle() const {
    std::vector<unsigned> seen(most_, 0);
    unsigned round = 0;
    for (const unsigned start : active_) {
      ++round;
      unsigned v = start;
      while (v != 0 && seen[v] == 0) {
        seen[v] = round;
        v = chosen_[v];
      }
      if (v == 0 || seen[v] != round) continue;
      std::vector<unsigned> cycle = {v};
      for (unsigned u = chosen_[v]; u != v; u = chosen_[u]) cycle.push_back(u);
      return cycle;
    }
    return {};
  }

  void contract(const std::vector<unsigned>& cycle, unsigned c) {
    for (const unsigned v : cycle) {
      inside_[v] = c;
      if (arc(v, v).tied) tied_ = true;
      active_.erase(std::find(active_.begin(), active_.end(), v));
    }
    for (const unsigned u : active_) {
      Arc into, from;
      for (const unsigned v : cycle) {
        Arc a = arc(u, v);
        if (a.value.possible()) {
          a.value = a.value - arc(v, v).value;
          offer(a, into);
        }
        if (u != 0) offer(arc(v, u), from);
      }
      arc(u, c) = into;
      arc(c, u) = from;
    }
    active_.push_back(c);
  }

  // From the outermost nodes in: the arc into a node is that into one part of it, the others keep
  // theirs.
  void open() {
    for (unsigned v = most_; v-- > 1;) {
      if (v >= nodes_ && arc(v, v).value.possible()) {
        unsigned part = arc(v, v).dependent;
        while (inside_[part] != v) part = inside_[part];
        arc(part, part) = arc(v, v);
      }
      if (v < nodes_) heads_[v - 1] = arc(v, v).head;
    }
  }

  unsigned nodes_, most_;
  std::vector<Arc> arcs_;  // by where to and from; from a node to itself, what it chose
  std::vector<unsigned> chosen_, inside_, active_;
  std::vector<unsigned> heads_;
  bool possible_, tied_ = false;
};

/// The best tree of those allowed, and of equal ones the first: none if there is none.
std::vector<unsigned> first_best(const ArcScores& s, Choices choices, bool single_root) {
  const Edmonds any(s, choices, single_root);
  if (!any.possible()) return {};
  std::vector<unsigned> heads = any.heads();
  if (!any.tied()) return heads;
  double best = score_of(s, heads);
  for (unsigned d = 1; d <= s.words; ++d) {
    for (unsigned h = 0; h < heads[d - 1]; ++h) {  // an earlier head, with as good a tree?
      if (!choices.allows(d, h) || !(s.arc(h, d) > kForbidden)) continue;
      Choices some = choices;
      some.fix(d, h);
      const Edmonds other(s, some, single_root);
      if (!other.possible() || score_of(s, other.heads()) < best) continue;
      heads = other.heads();
      best = score_of(s, heads);
    }
    choices.fix(d, heads[d - 1]);
  }
  return heads;
}

}  // namespace

std::vector<ScoredTree> best_spanning(const ArcScores& scores, std::size_t n, bool single_root) {
  /// The trees that agree with a set of choices. Heads of words before `free` are fixed.
  struct Part {
    ScoredTree best;
    Choices choices;
    unsigned free;
  };
  const auto later = [](const Part& a, const Part& b) { return comes_before(b.best, a.best); };
  std::priority_queue<Part, std::vector<Part>, decltype(later)> parts(later);
  const auto add = [&](const Choices& choices, unsigned free) {
    std::vector<unsigned> heads = first_best(scores, choices, single_root);
    if (heads.empty()) return;
    const double score = score_of(scores, heads);
    parts.push({{std::move(heads), score}, choices, free});
  };
  std::vector<ScoredTree> all;
  add(Choices(scores.words), 1);
  while (!parts.empty()) {
    Part part = parts.top();
    parts.pop();
    all.push_back(part.best);
    if (all.size() == n) break;
    for (unsigned d = part.free; d <= scores.words; ++d) {  // the first word that differs
      Choices differs = part.choices;
      differs.forbid(d, part.best.heads[d - 1]);
      add(differs, d);
      part.choices.fix(d, part.best.heads[d - 1]);
    }
  }
  return all;
}

}  // namespace dynet::trees
