#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "examples/mixed/emoji/inputs.h"
#include "examples/nlp/common/label_scores.h"
#include "examples/nlp/common/score.h"

namespace emoji {

/// Right groups and right subgroups.
struct Accuracy {
  nlp::Ratio group, subgroup;
};

/// Emoji scored by the model with each choice of its inputs, and by the trivial classifier, which
/// answers what is most frequent in training.
struct Report {
  struct Choice {
    Inputs inputs;
    Accuracy accuracy;
  };

  std::string name;
  std::vector<Choice> choices;  ///< the last one has all inputs
  Accuracy baseline;
  double sureness = 0;      ///< sum of the probabilities of right groups and subgroups, all inputs
  std::size_t unknown = 0;  ///< samples whose subgroup the model does not know
  nlp::LabelScores labels = nlp::LabelScores("emoji");  ///< of the groups, all inputs

  const Accuracy& whole() const { return choices.back().accuracy; }
  /// The mean accuracy of groups and subgroups, and for models with as many right ones how sure
  /// they are: more is better.
  double decisive() const;
  nlp::Figures figures() const;
  nlp::Counts counts() const;
  const nlp::LabelScores& label_scores() const { return labels; }
  const nlp::LabelScores& confusion() const { return labels; }
  /// A line for each choice and one for the trivial classifier.
  void print(std::ostream& out) const;
};

}  // namespace emoji
