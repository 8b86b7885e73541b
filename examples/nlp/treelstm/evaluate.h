#pragma once

#include <array>
#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "examples/nlp/common/score.h"
#include "examples/nlp/treelstm/trees.h"

namespace treelstm {

/// What a tree is taken for.
struct Prediction {
  std::vector<unsigned> labels;       ///< by node
  std::array<float, kLabels> root{};  ///< probabilities of the root's labels
  /// Whether the root is rather positive than negative, the neutral label left aside.
  bool positive() const { return root[3] + root[4] > root[0] + root[1]; }
};

/// The trivial classifier: the labels that are most frequent in training, whatever the words.
class Majority {
 public:
  Majority() = default;
  explicit Majority(const Treebank& train);
  /// The most frequent label of the roots for the root, that of all nodes for every other node.
  Prediction predict(const Tree& tree) const;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& root_& node_& root_shares_;
  }

 private:
  unsigned root_ = 0;
  unsigned node_ = 0;
  std::array<float, kLabels> root_shares_{};
};

/// How well predictions agree with the trees.
struct Scores {
  nlp::Ratio root;     ///< one of five labels
  nlp::Ratio binary;   ///< positive or negative, over the trees that are not neutral
  nlp::Ratio all;      ///< every node
  nlp::Ratio phrases;  ///< every node but the leaves
  /// Roots by right label, then by predicted label.
  std::array<std::array<std::size_t, kLabels>, kLabels> confusion{};

  void add(const Tree& tree, const Prediction& prediction);
};

/// Trees scored by the model and by the trivial classifier.
struct Report {
  std::string name;
  std::size_t trees = 0;
  Scores model;
  Scores majority;

  void add(const Tree& tree, const Prediction& prediction, const Majority& trivial);
  nlp::Figures figures() const;
  /// A few lines with both side by side.
  void print(std::ostream& out) const;
  /// The model's roots: a row for each right label, a column for each predicted one.
  void print_confusion(std::ostream& out) const;
};

}  // namespace treelstm
