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
  std::vector<float> root;       ///< probabilities of labels of the root
  /// True if the root is more probably positive than negative, ignoring the neutral label.
  bool positive(unsigned neutral) const;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& labels& root;
  }
};

/// The trivial classifier: the most frequent labels of the training data.
class Majority {
 public:
  Majority() = default;
  Majority(const Treebank& train, unsigned labels);
  /// The most frequent root label for the root, the most frequent label overall for other nodes.
  Prediction predict(const Tree& tree) const;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    archive& root_& node_;
    if (version > 0) {
      archive& root_shares_;
      return;
    }
    std::array<float, 5> five{};  // format before other label sets: the labels of SST
    archive& five;
    root_shares_.assign(five.begin(), five.end());
  }
  /// Throws nlp::UserError unless it belongs to this number of labels.
  void check(unsigned labels) const;

 private:
  unsigned root_ = 0;
  unsigned node_ = 0;
  std::vector<float> root_shares_;
};

/// Agreement of predictions with the trees.
struct Scores {
  nlp::Ratio root;     ///< accuracy of the root label
  nlp::Ratio binary;   ///< positive or negative, over trees that are not neutral
  nlp::Ratio all;      ///< all nodes
  nlp::Ratio phrases;  ///< inner nodes

  void add(const Tree& tree, const Prediction& prediction, const Labels& labels);
};

/// Scores of trees for the model and the trivial classifier.
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
  /// Prints both side by side in a few lines.
  void print(std::ostream& out) const;
};

}  // namespace treelstm

BOOST_CLASS_VERSION(treelstm::Majority, 1)
