#pragma once

#include <ostream>
#include <string>

#include "examples/nlp/common/score.h"
#include "examples/nlp/translate/scores.h"

namespace translate {

/// Scores of the translations of a corpus.
struct Report {
  std::string name;
  TranslationScores model;
  TranslationScores baseline;  ///< of a copy of the source text

  nlp::Figures figures() const;
  nlp::Counts counts() const;
  void print(std::ostream& out) const;
};

}  // namespace translate
