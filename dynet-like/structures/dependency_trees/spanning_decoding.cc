// The best dependency trees, projective or not.
#include <algorithm>
#include <queue>
#include <utility>

#include "dynet-like/structures/dependency_trees/tree_decoding.h"

namespace dynet::trees {
namespace {

/// Allowed heads of each word, as a matrix [dependent, head].
class Choices {
 public:
  explicit Choices(unsigned words)
      : nodes_(words + 1), allowed_(std::size_t{nodes_} * nodes_, true) {
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

/// The algorithm of Chu and Liu (1965) and Edmonds (1967), in Tarjan's (1977) form for dense
/// graphs: each word chooses its best head; the words of a cycle are contracted to a component,
/// which then chooses the best arc from a word outside. An arc into a component implies the best
/// tree of the component below that arc, so arcs are compared by the trees that they imply: by
/// score, and for equal scores by the first word whose head differs. Adding trees of other words
/// changes neither order; so the result is the best tree, and of equal ones the first. Time and
/// memory O(words^2).
///
/// With a single root, a component chooses an arc from the root only if it has no other arc.
/// Usually all words become one component, which then chooses the best arc from the root.
class Edmonds {
 public:
  Edmonds(const ArcScores& s, const Choices& choices, bool single_root)
      : scores_(s),
        single_root_(single_root),
        nodes_(s.words + 1),
        into_(std::size_t{nodes_} * nodes_),
        pairs_(std::size_t{nodes_} * nodes_),
        inner_(nodes_, 0.0),
        chosen_heads_(nodes_),
        from_chosen_(nodes_),
        component_(nodes_),
        words_(nodes_),
        chosen_(nodes_) {
    for (unsigned d = 1; d < nodes_; ++d) {
      component_[d] = d;
      words_[d] = {d};
      for (unsigned h = 0; h < nodes_; ++h)
        if (choices.allows(d, h) && s.arc(h, d) > kForbidden)
          into(d, h) = {d, s.scores[std::size_t{d} * nodes_ + h]};
    }
  }

  /// The heads of the best tree; empty if there is none.
  std::vector<unsigned> run() {
    std::vector<bool> done(nodes_, false), waits(nodes_, false);  // by component
    done[0] = true;
    std::vector<unsigned> path;  // of components; each one is the head of its predecessor
    unsigned roots = 0;
    for (unsigned start = 1; start < nodes_; ++start) {
      for (unsigned c = component_[start]; !done[c];) {
        path.push_back(c);
        waits[c] = true;
        if (!choose(c)) return {};
        const unsigned head = component_[chosen_[c].head];
        roots += head == 0;
        c = head;
        if (waits[head]) c = contract(path, head);
      }
      for (const unsigned c : path) done[c] = true, waits[c] = false;
      path.clear();
    }
    if (single_root_ && roots > 1) return {};
    std::vector<unsigned> tree(scores_.words);
    for (unsigned d = 1; d < nodes_; ++d) tree[d - 1] = head_below(chosen_[component_[d]], d);
    return tree;
  }

 private:
  /// An arc from a word into a component.
  struct Arc {
    unsigned dependent = 0;  // the word of the component; 0 if there is no arc
    float score = 0;
  };
  struct Choice {
    unsigned head = 0;
    Arc arc;
  };

  /// The best arc into component c from word `head`.
  Arc& into(unsigned c, unsigned head) { return into_[std::size_t{c} * nodes_ + head]; }
  /// Two words (a, b) of a component.
  struct Pair {
    unsigned head;        // head of b in the best tree with a on top
    unsigned difference;  // first word, other than a and b, whose head differs with b on top
  };
  Pair& pair(unsigned a, unsigned b) { return pairs_[std::size_t{a} * nodes_ + b]; }
  unsigned head_below(const Choice& x, unsigned d) {
    return d == x.arc.dependent ? x.head : pair(x.arc.dependent, d).head;
  }

  /// The score of the arc and of the component's tree below it, minus their common part.
  double score(const Arc& a) const { return static_cast<double>(a.score) + inner_[a.dependent]; }

  /// Returns whether choice a is better than choice b for one component.
  bool better(const Choice& a, const Choice& b) {
    const unsigned v = a.arc.dependent, w = b.arc.dependent;
    if (v == 0 || w == 0) return v != 0;
    const double x = score(a.arc), y = score(b.arc);
    if (x != y) return x > y;
    if (v == w) return a.head < b.head;
    // The two tops v and w differ as well: each has its head outside in one of the trees only.
    const unsigned d = std::min({v, w, pair(v, w).difference});
    return head_below(a, d) < head_below(b, d);
  }

  bool choose(unsigned c) {
    Choice best;
    for (unsigned h = single_root_ ? 1 : 0; h < nodes_; ++h)
      if (const Choice x{h, into(c, h)}; better(x, best)) best = x;
    if (best.arc.dependent == 0) best = {0, into(c, 0)};
    chosen_[c] = best;
    return best.arc.dependent != 0;
  }

  /// Contracts the cycle at the end of the path, from `first` on, to one component.
  unsigned contract(std::vector<unsigned>& path, unsigned first) {
    const auto begin = std::find(path.begin(), path.end(), first);
    const std::vector<unsigned> cycle(begin, path.end());
    path.erase(begin, path.end());
    for (const unsigned c : cycle) {
      const Choice& x = chosen_[c];
      const unsigned top = x.arc.dependent;
      const double lost = score(x.arc);
      for (const unsigned d : words_[c]) {
        inner_[d] -= lost;
        chosen_heads_[d] = head_below(x, d);
        from_chosen_[d] = d == top ? nodes_ : std::min(top, pair(d, top).difference);
      }
    }
    // An arc into one component of the cycle keeps the chosen arcs of the other components.
    for (const unsigned c : cycle)
      for (const unsigned top : words_[c])
        for (const unsigned other : cycle)
          if (other != c)
            for (const unsigned d : words_[other])
              pair(top, d) = {chosen_heads_[d], std::min(from_chosen_[top], from_chosen_[d])};
    std::vector<unsigned>& words = words_[first];
    for (const unsigned c : cycle) {
      if (c == first) continue;
      for (const unsigned d : words_[c]) component_[d] = first;
      words.insert(words.end(), words_[c].begin(), words_[c].end());
      words_[c].clear();
    }
    for (const unsigned d : words) into(first, d) = {};
    for (unsigned h = 0; h < nodes_; ++h) {
      if (component_[h] == first) continue;
      Arc& best = into(first, h);
      for (const unsigned c : cycle)
        if (better({h, into(c, h)}, {h, best})) best = into(c, h);
    }
    return first;
  }

  const ArcScores& scores_;
  const bool single_root_;
  const unsigned nodes_;
  std::vector<Arc> into_;  // [component, head]
  std::vector<Pair> pairs_;
  std::vector<double> inner_;                         // by the word that an arc enters
  std::vector<unsigned> chosen_heads_, from_chosen_;  // of the words of a cycle, during contraction
  std::vector<unsigned> component_;                   // of each word, named after one of its words
  std::vector<std::vector<unsigned>> words_;          // of each component
  std::vector<Choice> chosen_;                        // of each component
};

}  // namespace

std::vector<ScoredTree> best_spanning(const ArcScores& scores, std::size_t n, bool single_root) {
  /// All trees that agree with a set of choices. Heads of words before `free` are fixed.
  struct Part {
    ScoredTree best;
    Choices choices;
    unsigned free;
  };
  const auto later = [](const Part& a, const Part& b) { return comes_before(b.best, a.best); };
  std::priority_queue<Part, std::vector<Part>, decltype(later)> parts(later);
  const auto add = [&](const Choices& choices, unsigned free) {
    std::vector<unsigned> heads = Edmonds(scores, choices, single_root).run();
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
    for (unsigned d = part.free; d <= scores.words; ++d) {  // the first word with a different head
      Choices differs = part.choices;
      differs.forbid(d, part.best.heads[d - 1]);
      add(differs, d);
      part.choices.fix(d, part.best.heads[d - 1]);
    }
  }
  return all;
}

}  // namespace dynet::trees
