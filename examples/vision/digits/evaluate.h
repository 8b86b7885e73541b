#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "examples/nlp/common/label_scores.h"
#include "examples/nlp/common/score.h"
#include "examples/vision/digits/corpus.h"

namespace digits {

/// Distinct labels of a corpus: numbers in numeric order, then other labels sorted.
std::vector<std::string> labels_of(const Corpus& corpus);

/// The trivial classifier: the most frequent label of the training data, the first of equally
/// frequent labels.
std::string most_frequent_label(const Corpus& train);

/// Scores of the model and of the trivial classifier.
struct Report {
  std::string name;
  nlp::Ratio model;
  nlp::Ratio baseline;
  double sureness = 0;      ///< summed probabilities of the correct labels
  std::size_t unknown = 0;  ///< pictures with a label unknown to the model
  nlp::LabelScores labels = nlp::LabelScores("pictures");  ///< of the model

  /// Score for model selection, higher is better: the accuracy; ties are decided by the
  /// probabilities of correct labels.
  double decisive() const;
  nlp::Figures figures() const;
  nlp::Counts counts() const;
  const nlp::LabelScores& label_scores() const { return labels; }
  const nlp::LabelScores& confusion() const { return labels; }
  /// Prints both side by side in a few lines.
  void print(std::ostream& out) const;
};

}  // namespace digits
