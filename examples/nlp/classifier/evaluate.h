#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "examples/nlp/classifier/corpus.h"
#include "examples/nlp/common/label_scores.h"
#include "examples/nlp/common/score.h"

namespace classifier {

/// The labels of a corpus, sorted, each once.
std::vector<std::string> labels_of(const Corpus& corpus);

/// The trivial classifier: the label that is most frequent in training, whatever the text. Of
/// equally frequent ones the alphabetically first.
std::string most_frequent_label(const Corpus& train);

/// Texts scored by the model and by the trivial classifier.
struct Report {
  std::string name;
  nlp::Ratio model;
  nlp::Ratio baseline;
  double sureness = 0;  ///< sum of the probabilities that the model gives to the right labels
  /// Texts whose label the model does not know, which it cannot get right.
  std::size_t unknown = 0;
  nlp::LabelScores labels = nlp::LabelScores("texts");  ///< of the model

  /// The accuracy, and for models with as many right ones how sure they are: more is better.
  double decisive() const;
  nlp::Figures figures() const;
  nlp::Counts counts() const;
  const nlp::LabelScores& label_scores() const { return labels; }
  const nlp::LabelScores& confusion() const { return labels; }
  /// A few lines with both side by side.
  void print(std::ostream& out) const;
};

}  // namespace classifier
