#include "examples/nlp/treelstm/evaluate.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "examples/nlp/common/check.h"

namespace treelstm {
namespace {

using LabelCounts = std::vector<std::size_t>;

/// Most frequent label; the smallest of equally frequent labels.
unsigned most_frequent(const LabelCounts& counts) {
  return static_cast<unsigned>(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

}  // namespace

bool Prediction::positive(unsigned neutral) const {
  const auto middle = root.begin() + static_cast<std::ptrdiff_t>(neutral);
  return std::accumulate(middle + 1, root.end(), 0.0f) >
         std::accumulate(root.begin(), middle, 0.0f);
}

Majority::Majority(const Treebank& train, unsigned labels) {
  LabelCounts roots(labels);
  LabelCounts nodes(labels);
  for (const Tree& tree : train) {
    ++roots[tree.root().label];
    for (const Node& node : tree.nodes) ++nodes[node.label];
  }
  root_ = most_frequent(roots);
  node_ = most_frequent(nodes);
  for (const std::size_t count : roots) {
    root_shares_.push_back(static_cast<float>(nlp::Ratio{count, train.size()}.value()));
  }
}

void Majority::check(unsigned labels) const {
  nlp::require(root_ < labels && node_ < labels && root_shares_.size() == labels,
               "its most frequent labels are none of its " + std::to_string(labels));
  for (const float share : root_shares_)
    nlp::require_number("share of a label", static_cast<double>(share), 0, 1);
}

Prediction Majority::predict(const Tree& tree) const {
  Prediction prediction;
  prediction.labels.assign(tree.nodes.size(), node_);
  prediction.labels.back() = root_;
  prediction.root = root_shares_;
  return prediction;
}

void Scores::add(const Tree& tree, const Prediction& prediction, const Labels& labels) {
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const bool right = prediction.labels[i] == tree.nodes[i].label;
    all.count(right);
    if (!tree.nodes[i].is_leaf()) phrases.count(right);
  }
  const unsigned label = tree.root().label;
  root.count(prediction.labels.back() == label);
  const std::optional<unsigned> neutral = labels.neutral();
  if (neutral && label != *neutral)
    binary.count(prediction.positive(*neutral) == (label > *neutral));
}

Report::Report(std::string report_name, const Labels& labels_of_trees)
    : name(std::move(report_name)), labels(labels_of_trees) {
  std::vector<nlp::LabelScores::Known> known;
  for (unsigned label = 0; label < labels.size(); ++label) {
    known.push_back({labels.name(label), labels.written(label)});
  }
  roots = nlp::LabelScores("roots", known);
}

void Report::add(const Tree& tree, const Prediction& prediction, const Majority& trivial) {
  ++trees;
  model.add(tree, prediction, labels);
  majority.add(tree, trivial.predict(tree), labels);
  roots.count(labels.name(tree.root().label), labels.name(prediction.labels.back()));
}

nlp::Figures Report::figures() const {
  nlp::Figures figures = {{"root", model.root.value(), majority.root.value()}};
  if (labels.neutral()) {
    figures.push_back({"positive/negative", model.binary.value(), majority.binary.value()});
  }
  figures.push_back({"all nodes", model.all.value(), majority.all.value()});
  figures.push_back({"phrases", model.phrases.value(), majority.phrases.value()});
  return figures;
}

nlp::Counts Report::counts() const {
  nlp::Counts counts = {{"trees", trees}, {"nodes", model.all.total}};
  if (labels.neutral()) counts.emplace_back("trees not neutral", model.binary.total);
  return counts;
}

void Report::print(std::ostream& out) const {
  nlp::print_counts(name, counts(), out);
  nlp::print_table("  tree-LSTM          ", "  most frequent label", figures(), out);
}

}  // namespace treelstm
