#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "examples/mixed/emoji/inputs.h"
#include "examples/nlp/common/label_scores.h"
#include "examples/nlp/common/score.h"

namespace emoji {

/// Accuracies of groups and subgroups.
struct Accuracy {
  nlp::Ratio group, subgroup;
};

/// Scores of the model with each combination of inputs, and of the trivial classifier, which
/// predicts the most frequent training labels.
struct Report {
  struct Choice {
    Inputs inputs;
    Accuracy accuracy;
  };

  std::string name;
  std::vector<Choice> choices;  ///< the last choice has all inputs
  Accuracy baseline;
  double sureness = 0;      ///< summed probabilities of correct labels, with all inputs
  std::size_t unknown = 0;  ///< samples with a subgroup unknown to the model
  nlp::LabelScores labels = nlp::LabelScores("emoji");  ///< of groups, with all inputs

  const Accuracy& whole() const { return choices.back().accuracy; }
  /// Score for model selection, higher is better: the mean accuracy of groups and subgroups; ties
  /// are decided by the probabilities of correct labels.
  double decisive() const;
  nlp::Figures figures() const;
  nlp::Counts counts() const;
  const nlp::LabelScores& label_scores() const { return labels; }
  const nlp::LabelScores& confusion() const { return labels; }
  /// Prints a line for each choice and one for the trivial classifier.
  void print(std::ostream& out) const;
};

}  // namespace emoji
