#pragma once

#include <span>
#include <vector>

#include "dynet-like/dynet.h"
#include "examples/nlp/parser/encoder.h"
#include "examples/nlp/parser/settings.h"

namespace parser {

/// Biaffine scores of all arcs, and of the labels of a tree's arcs (Dozat and Manning, ICLR 2017);
/// the probability of a tree is normalized over all trees.
class ArcScorer {
 public:
  ArcScorer(const Description& description, dynet::ParameterCollection& parameters);

  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Negative log-likelihood of the tree and its labels.
  dynet::Expression loss(const Vectors& vectors, const Target& target) const;
  /// The best trees and the best allowed labels of their arcs, which are scored after the trees are
  /// known. The probability of an arc is that of all trees that contain it.
  std::vector<Arcs> parse(std::span<const Vectors> sentences, bool probabilities) const;

 private:
  /// Vectors of each word as head and dependent, for arcs and for labels.
  struct Sides {
    Vectors heads, dependents, label_heads, label_dependents;
  };
  Sides sides(const Vectors& vectors) const;

  unsigned arc_, label_;
  float dropout_;
  dynet::DependencyRules rules_;
  LabelRule label_rule_;
  dynet::Parameter head_weight_, head_bias_, dependent_weight_, dependent_bias_;
  dynet::BiaffineScorer arcs_, labels_;
  // State of the current graph.
  bool training_ = false;
  dynet::Expression head_weight_node_, head_bias_node_, dependent_weight_node_,
      dependent_bias_node_;
};

}  // namespace parser
