#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "examples/nlp/classifier/corpus.h"
#include "examples/nlp/common/label_scores.h"
#include "examples/nlp/common/score.h"

namespace classifier {

/// Distinct labels of a corpus, sorted.
std::vector<std::string> labels_of(const Corpus& corpus);

/// The trivial classifier: the most frequent label of the training data; the alphabetically first
/// of equally frequent labels.
std::string most_frequent_label(const Corpus& train);

/// Scores of the model and of the trivial classifier.
struct Report {
  std::string name;
  nlp::Ratio model;
  nlp::Ratio baseline;
  double sureness = 0;  ///< summed probabilities of the correct labels
  /// Texts with a label unknown to the model, which it cannot predict.
  std::size_t unknown = 0;
  nlp::LabelScores labels = nlp::LabelScores("texts");  ///< of the model

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

}  // namespace classifier
