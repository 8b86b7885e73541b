#include "examples/nlp/treelstm/evaluate.h"

#include <algorithm>
#include <utility>

#include "examples/nlp/common/progress.h"

namespace treelstm {
namespace {

using nlp::padded;
using nlp::percent;

using LabelCounts = std::array<std::size_t, kLabels>;

/// Of equally frequent labels the smallest.
unsigned most_frequent(const LabelCounts& counts) {
  return static_cast<unsigned>(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

}  // namespace

Majority::Majority(const Treebank& train) {
  LabelCounts roots{};
  LabelCounts nodes{};
  for (const Tree& tree : train) {
    ++roots[tree.root().label];
    for (const Node& node : tree.nodes) ++nodes[node.label];
  }
  root_ = most_frequent(roots);
  node_ = most_frequent(nodes);
  for (unsigned label = 0; label < kLabels; ++label) {
    root_shares_[label] = static_cast<float>(nlp::Ratio{roots[label], train.size()}.value());
  }
}

Prediction Majority::predict(const Tree& tree) const {
  Prediction prediction;
  prediction.labels.assign(tree.nodes.size(), node_);
  prediction.labels.back() = root_;
  prediction.root = root_shares_;
  return prediction;
}

void Scores::add(const Tree& tree, const Prediction& prediction) {
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const bool right = prediction.labels[i] == tree.nodes[i].label;
    all.count(right);
    if (!tree.nodes[i].is_leaf()) phrases.count(right);
  }
  const unsigned label = tree.root().label;
  const unsigned guess = prediction.labels.back();
  root.count(guess == label);
  if (label != kNeutral) binary.count(prediction.positive() == (label > kNeutral));
  ++confusion[label][guess];
}

void Report::add(const Tree& tree, const Prediction& prediction, const Majority& trivial) {
  ++trees;
  model.add(tree, prediction);
  majority.add(tree, trivial.predict(tree));
}

nlp::Figures Report::figures() const {
  return {{"root", model.root.value(), majority.root.value()},
          {"positive/negative", model.binary.value(), majority.binary.value()},
          {"all nodes", model.all.value(), majority.all.value()},
          {"phrases", model.phrases.value(), majority.phrases.value()}};
}

void Report::print(std::ostream& out) const {
  out << name << ": " << nlp::with_commas(trees) << " trees, " << nlp::with_commas(model.all.total)
      << " nodes, " << nlp::with_commas(model.binary.total) << " trees not neutral\n";
  nlp::print_table("  tree-LSTM          ", "  most frequent label", figures(), out);
}

void Report::print_confusion(std::ostream& out) const {
  constexpr std::size_t kWidth = 8;
  out << "roots: right label by row, predicted label by column\n" << std::string(18, ' ');
  for (unsigned label = 0; label < kLabels; ++label) out << padded(std::to_string(label), kWidth);
  out << padded("right", kWidth + 2) << '\n';
  for (unsigned label = 0; label < kLabels; ++label) {
    const LabelCounts& row = model.confusion[label];
    nlp::Ratio right{row[label], 0};
    const std::string name_of_label = kLabelNames[label];
    out << "  " << label << ' ' << name_of_label
        << std::string(14 - std::min<std::size_t>(14, name_of_label.size()), ' ');
    for (const std::size_t count : row) {
      out << padded(nlp::with_commas(count), kWidth);
      right.total += count;
    }
    out << padded(percent(right.value()), kWidth + 2) << '\n';
  }
  out.flush();
}

}  // namespace treelstm
