#pragma once

#include <array>
#include <boost/serialization/array.hpp>
#include <boost/serialization/version.hpp>
#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "examples/nlp/common/label_scores.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/treelstm/trees.h"

namespace treelstm {

/// Predicted labels of a tree.
struct Prediction {
  std::vector<unsigned> labels;  ///< by node
  std::vector<float> root;       ///< probabilities of the root's labels
  /// Whether the root is rather positive than negative, the neutral label left aside.
  bool positive(unsigned neutral) const;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& labels& root;
  }
};

/// The trivial classifier: the labels that are most frequent in training, whatever the words.
class Majority {
 public:
  Majority() = default;
  Majority(const Treebank& train, unsigned labels);
  /// The most frequent label of the roots for the root, that of all nodes for every other node.
  Prediction predict(const Tree& tree) const;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    archive& root_& node_;
    if (version > 0) {
      archive& root_shares_;
      return;
    }
    std::array<float, 5> five{};  // when there were no other labels than SST's
    archive& five;
    root_shares_.assign(five.begin(), five.end());
  }
  /// Throws nlp::UserError unless it is that of so many labels.
  void check(unsigned labels) const;

 private:
  unsigned root_ = 0;
  unsigned node_ = 0;
  std::vector<float> root_shares_;
};

/// How well predictions agree with the trees.
struct Scores {
  nlp::Ratio root;     ///< one of the labels
  nlp::Ratio binary;   ///< positive or negative, over the trees that are not neutral
  nlp::Ratio all;      ///< every node
  nlp::Ratio phrases;  ///< every node but the leaves

  void add(const Tree& tree, const Prediction& prediction, const Labels& labels);
};

/// Trees scored by the model and by the trivial classifier.
struct Report {
  Report(std::string report_name, const Labels& labels_of_trees);

  std::string name;
  Labels labels;
  std::size_t trees = 0;
  Scores model;
  Scores majority;
  nlp::LabelScores roots;  ///< of the model

  void add(const Tree& tree, const Prediction& prediction, const Majority& trivial);
  nlp::Figures figures() const;
  nlp::Counts counts() const;
  const nlp::LabelScores& label_scores() const { return roots; }
  const nlp::LabelScores& confusion() const { return roots; }
  /// A few lines with both side by side.
  void print(std::ostream& out) const;
};

}  // namespace treelstm

BOOST_CLASS_VERSION(treelstm::Majority, 1)
