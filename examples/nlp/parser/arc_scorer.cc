#include "examples/nlp/parser/arc_scorer.h"

#include "examples/nlp/common/check.h"

namespace parser {

using dynet::Expression;

ArcScorer::ArcScorer(const Description& description, dynet::ParameterCollection& parameters)
    : arc_(description.settings.arc),
      label_(description.settings.label),
      dropout_(description.settings.dropout),
      rules_{.projective = !description.settings.crossing, .single_root = true},
      label_rule_(description.labels) {
  const unsigned both = 2 * description.settings.hidden, size = arc_ + label_;
  const auto zero = dynet::ParameterInitConst(0);
  head_weight_ = parameters.add_parameters({size, both}, "head-weight");
  head_bias_ = parameters.add_parameters({size}, zero, "head-bias");
  dependent_weight_ = parameters.add_parameters({size, both}, "dependent-weight");
  dependent_bias_ = parameters.add_parameters({size}, zero, "dependent-bias");
  arcs_ = dynet::BiaffineScorer(
      parameters, {.heads = arc_, .dependents = arc_, .outputs = 1, .dependent_bias = false});
  labels_ = dynet::BiaffineScorer(parameters,
                                  {.heads = label_,
                                   .dependents = label_,
                                   .outputs = static_cast<unsigned>(description.labels.size())});
}

void ArcScorer::begin_graph(dynet::ComputationGraph& graph, bool training) {
  training_ = training;
  head_weight_node_ = parameter(graph, head_weight_);
  head_bias_node_ = parameter(graph, head_bias_);
  dependent_weight_node_ = parameter(graph, dependent_weight_);
  dependent_bias_node_ = parameter(graph, dependent_bias_);
  arcs_.new_graph(graph);
  labels_.new_graph(graph);
}

ArcScorer::Sides ArcScorer::sides(const Vectors& vectors) const {
  Sides sides;
  const auto add = [&](const Expression& x, Vectors& arcs, Vectors& labels) {
    const Expression y = dropped(elu(x), dropout_, training_);
    arcs.push_back(pick_range(y, 0, arc_));
    labels.push_back(pick_range(y, arc_, arc_ + label_));
  };
  for (const Expression& x : vectors) {
    add(dynet::affine_transform({head_bias_node_, head_weight_node_, x}), sides.heads,
        sides.label_heads);
    add(dynet::affine_transform({dependent_bias_node_, dependent_weight_node_, x}),
        sides.dependents, sides.label_dependents);
  }
  return sides;
}

Expression ArcScorer::loss(const Vectors& vectors, const Target& target) const {
  const Sides all = sides(vectors);
  std::vector<Expression> losses = {
      -dependency_log_prob(arcs_.all_pairs(all.heads, all.dependents), target.heads, rules_)};
  for (std::size_t i = 0; i < target.heads.size(); ++i) {
    losses.push_back(pickneglogsoftmax(
        labels_.pair(all.label_heads[target.heads[i]], all.label_dependents[i + 1]),
        target.labels[i]));
  }
  return sum(losses);
}

std::vector<Arcs> ArcScorer::parse(std::span<const Vectors> sentences, bool probabilities) const {
  std::vector<Sides> all;
  std::vector<Expression> arcs, marginals, labels;
  for (const Vectors& sentence : sentences) {
    all.push_back(sides(sentence));
    arcs.push_back(arcs_.all_pairs(all.back().heads, all.back().dependents));
    if (probabilities) marginals.push_back(dependency_marginals(arcs.back(), rules_));
  }
  if (sentences.empty()) return {};
  // The last value depends on all nodes built so far, so reading it first runs all of them in
  // batches.
  (probabilities ? marginals : arcs).back().value();
  std::vector<Arcs> trees;
  for (std::size_t k = 0; k < sentences.size(); ++k) {
    const auto words = static_cast<unsigned>(sentences[k].size() - 1);
    Arcs& tree = trees.emplace_back();
    const std::vector<float> scores = as_vector(arcs[k].value());
    nlp::require_scores(scores);  // best_tree needs finite scores
    tree.heads = dynet::best_tree({words, scores}, rules_);
    for (unsigned i = 0; i < words; ++i) {
      labels.push_back(
          labels_.pair(all[k].label_heads[tree.heads[i]], all[k].label_dependents[i + 1]));
      if (!probabilities) continue;
      const std::vector<float> p = as_vector(marginals[k].value());
      tree.probabilities.push_back(p[std::size_t{i + 1} * (words + 1) + tree.heads[i]]);
    }
  }
  if (!labels.empty()) labels.back().value();
  auto scores = labels.begin();
  for (Arcs& tree : trees) {
    for (std::size_t i = 0; i < tree.heads.size(); ++i, ++scores) {
      const std::vector<float> values = as_vector(scores->value());
      nlp::require_scores(values);
      unsigned best = kNone;
      for (unsigned label = 0; label < values.size(); ++label)
        if (label_rule_.allows(label, tree.heads[i]) &&
            (best == kNone || values[label] > values[best]))
          best = label;
      tree.labels.push_back(best);
    }
  }
  return trees;
}

}  // namespace parser
