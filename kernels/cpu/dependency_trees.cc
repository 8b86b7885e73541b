#include "kernels/cpu/dependency_trees.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cpu/projective_trees.h"
#include "kernels/cpu/spanning_trees.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

/// Batch element of a node.
struct TreeSentence {
  std::size_t node, element, nodes;
  DependencyAttr rules;
  const T* arcs;
  double* tables;  // tables of projective trees

  std::size_t size() const { return nodes * nodes; }
  ProjectiveTrees<T> projective() const { return {nodes, rules.single_root != 0, tables}; }
  SpanningTrees<T> spanning() const { return {nodes, rules.single_root != 0, arcs}; }

  /// log Z; for projective trees, fills the tables for backward.
  double log_partition() const {
    if (!rules.projective) return spanning().log_partition();
    ProjectiveTrees<T> trees = projective();
    trees.find_sums(arcs);
    return trees.log_partition();
  }
};

/// Scratch memory shared by the sentences of a batch.
struct TreeWorkspace {
  std::vector<T> mass;
  std::vector<double> slopes, d_mass;
};

/// Calls f(sentence) for every batch element of every node with `wanted`.
template <class F, class Wanted>
void each_sentence(const Batch<T>& b, Wanted wanted, F f) {
  for (std::size_t i = 0; i < b.count; ++i) {
    const Dim& d = b.dim(0, i);
    const auto rules = b.attr<DependencyAttr>(i);  // what attributes begin with
    const std::size_t nodes = d.rows(), elements = DependencyTables{nodes}.elements();
    for (std::size_t e = 0; e < d.bd && wanted(i); ++e)
      f(TreeSentence{
          i, e, nodes, rules, b.in(0, i) + e * nodes * nodes,
          rules.projective ? reinterpret_cast<double*>(b.aux(i) + e * elements) : nullptr});
  }
}
template <class F>
void each_sentence(const Batch<T>& b, F f) {
  each_sentence(
      b, [](std::size_t) { return true; }, f);
}

/// Calls f(sentence, gradient of its arcs); f adds to the gradient.
template <class F>
void each_arcs_gradient(const GradientBatch<T>& b, F f) {
  for (std::size_t i = 0; i < b.count; ++i)
    if (b.d_in(0, i) && !b.add(0, i)) std::fill_n(b.d_in(0, i), b.dim(0, i).size(), T(0));
  each_sentence(
      b, [&](std::size_t i) { return b.d_in(0, i) != nullptr; },
      [&](const TreeSentence& s) { f(s, b.d_in(0, s.node) + s.element * s.size()); });
}

/// Adds numbers of the heads of a word.
auto add_heads(const TreeSentence& s, T factor, T* to) {
  return [n = s.nodes, factor, to](std::size_t d, const double* heads) {
    array(to + d * n, n) += factor * array(heads, n).template cast<T>();
  };
}

/// to += factor * the probability of each arc; for projective trees after log_partition.
void add_probabilities(const TreeSentence& s, T factor, TreeWorkspace& w, T* to) {
  const auto add = [&](std::size_t h, std::size_t d, auto p) {
    to[d * s.nodes + h] += factor * static_cast<T>(p);
  };
  if (!s.rules.projective) {
    s.spanning().each_probability(add_heads(s, factor, to));
    return;
  }
  const ProjectiveTrees<T> trees = s.projective();
  w.mass.resize(std::max(w.mass.size(), trees.size()));
  trees.find_probabilities(w.mass.data());
  trees.each_arc(w.mass.data(), add);
}

/// to += factor * the derivative of the probability of each arc in a direction(head, dependent).
template <class Direction>
void add_derivatives(const TreeSentence& s, T factor, Direction direction, TreeWorkspace& w,
                     T* to) {
  const auto add = [&](std::size_t h, std::size_t d, double slope) {
    to[d * s.nodes + h] += factor * static_cast<T>(slope);
  };
  if (!s.rules.projective) return s.spanning().each_derivative(direction, add_heads(s, factor, to));
  const ProjectiveTrees<T> trees = s.projective();
  w.mass.resize(std::max(w.mass.size(), trees.size()));
  w.slopes.resize(w.mass.size());
  w.d_mass.resize(w.mass.size());
  trees.find_derivatives(direction, w.slopes.data());
  trees.find_probabilities(w.slopes.data(), w.mass.data(), w.d_mass.data());
  trees.each_arc(w.d_mass.data(), add);
}

/// Probabilities of arcs that forward keeps for backward; null if it keeps none.
T* kept_probabilities(const Batch<T>& b, const TreeSentence& s) {
  const bool kept = !s.rules.projective && b.node(s.node).needs_gradient();
  return kept ? b.aux(s.node) + s.element * s.size() : nullptr;
}

/// log Z; fills what backward needs.
double log_partition(const Batch<T>& b, const TreeSentence& s) {
  T* const kept = kept_probabilities(b, s);
  if (!kept) return s.log_partition();
  std::fill_n(kept, s.size(), T(0));
  return s.spanning().each_probability(add_heads(s, T(1), kept));
}
void add_probabilities(const GradientBatch<T>& b, const TreeSentence& s, T factor, TreeWorkspace& w,
                       T* to) {
  if (T* const kept = kept_probabilities(b, s))
    array(to, s.size()) += factor * array(static_cast<const T*>(kept), s.size());
  else
    add_probabilities(s, factor, w, to);
}

const unsigned* known_heads(const Batch<T>& b, const TreeSentence& s) {
  return b.payload<DependencyHeadsAttr, unsigned>(s.node) + s.element * (s.nodes - 1);
}

/// Score of a tree; minus infinity if the heads are not a tree or break the rules.
double tree_score(const TreeSentence& s, const unsigned* heads) {
  if (!is_dependency_tree(heads, s.nodes - 1, s.rules)) return -kInfinity<double>;
  double sum = 0;
  for (std::size_t d = 1; d < s.nodes; ++d)
    sum += static_cast<double>(s.arcs[d * s.nodes + heads[d - 1]]);
  return sum;
}

}  // namespace

void DependencyLogPartition::forward(const Batch<T>& b) {
  each_sentence(b, [&](const TreeSentence& s) {
    b.out(s.node)[s.element] = static_cast<T>(log_partition(b, s));
  });
}

void DependencyLogPartition::backward(const GradientBatch<T>& b) {
  TreeWorkspace w;
  each_arcs_gradient(b, [&](const TreeSentence& s, T* to) {
    add_probabilities(b, s, b.d_out(s.node)[s.element], w, to);
  });
}

void DependencyLogProb::forward(const Batch<T>& b) {
  each_sentence(b, [&](const TreeSentence& s) {
    const double all = log_partition(b, s), score = tree_score(s, known_heads(b, s));
    const double log_p = score - all;  // NaN if all trees are forbidden
    T& out = b.out(s.node)[s.element];
    out = score == -kInfinity<double> ? -kInfinity<T>
          : std::isnan(log_p)         ? static_cast<T>(log_p)
                                      : static_cast<T>(std::min(0.0, log_p));
  });
}

void DependencyLogProb::backward(const GradientBatch<T>& b) {
  TreeWorkspace w;
  each_arcs_gradient(b, [&](const TreeSentence& s, T* to) {
    const unsigned* const heads = known_heads(b, s);
    const T d_out = b.d_out(s.node)[s.element];
    if (tree_score(s, heads) == -kInfinity<double>) return;
    for (std::size_t d = 1; d < s.nodes; ++d) to[d * s.nodes + heads[d - 1]] += d_out;
    add_probabilities(b, s, -d_out, w, to);
  });
}

void DependencyMarginals::forward(const Batch<T>& b) {
  TreeWorkspace w;
  each_sentence(b, [&](const TreeSentence& s) {
    T* const to = b.out(s.node) + s.element * s.size();
    std::fill_n(to, s.size(), T(0));
    if (s.rules.projective) s.log_partition();
    add_probabilities(s, T(1), w, to);
  });
}

void DependencyMarginals::backward(const GradientBatch<T>& b) {
  TreeWorkspace w;
  each_arcs_gradient(b, [&](const TreeSentence& s, T* to) {
    const T* const d_out = b.d_out(s.node) + s.element * s.size();
    add_derivatives(
        s, T(1),
        [&](std::size_t h, std::size_t d) { return static_cast<double>(d_out[d * s.nodes + h]); },
        w, to);
  });
}

void DependencyEntropy::forward(const Batch<T>& b) {
  TreeWorkspace w;
  each_sentence(b, [&](const TreeSentence& s) {
    double h;
    if (s.rules.projective) {
      const double log_z = s.log_partition();
      const ProjectiveTrees<T> trees = s.projective();
      w.mass.resize(std::max(w.mass.size(), trees.size()));
      h = checked_entropy(log_z, trees.entropy(w.mass.data()));
    } else {
      h = s.spanning().entropy();
    }
    b.out(s.node)[s.element] = static_cast<T>(h);
  });
}

// With s the scores and p the probabilities of arcs, H = log Z - p' s, so dH = -s' dp: the
// derivative of p in the direction of the scores; scores of forbidden arcs are ignored.
void DependencyEntropy::backward(const GradientBatch<T>& b) {
  TreeWorkspace w;
  each_arcs_gradient(b, [&](const TreeSentence& s, T* to) {
    add_derivatives(
        s, -b.d_out(s.node)[s.element],
        [&](std::size_t h, std::size_t d) {
          const T score = s.arcs[d * s.nodes + h];
          return std::isfinite(score) ? static_cast<double>(score) : 0.0;
        },
        w, to);
  });
}

}  // namespace dynet::cpu::DYNET_ISA
