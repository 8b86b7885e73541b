#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "examples/nlp/common/label_scores.h"
#include "examples/nlp/common/score.h"
#include "examples/vision/digits/corpus.h"

namespace digits {

/// The labels of a corpus, each once: numbers by their value, before all others, which are sorted.
std::vector<std::string> labels_of(const Corpus& corpus);

/// The trivial classifier: the label that is most frequent in training, the first of equally
/// frequent ones.
std::string most_frequent_label(const Corpus& train);

/// Pictures scored by the model and by the trivial classifier.
struct Report {
  std::string name;
  nlp::Ratio model;
  nlp::Ratio baseline;
  double sureness = 0;      ///< sum of the probabilities that the model gives to the right labels
  std::size_t unknown = 0;  ///< pictures whose label the model does not have
  nlp::LabelScores labels = nlp::LabelScores("pictures");  ///< of the model

  /// The accuracy, and for models with as many right ones how sure they are: more is better.
  double decisive() const;
  nlp::Figures figures() const;
  nlp::Counts counts() const;
  const nlp::LabelScores& label_scores() const { return labels; }
  const nlp::LabelScores& confusion() const { return labels; }
  /// A few lines with both side by side.
  void print(std::ostream& out) const;
};

}  // namespace digits
