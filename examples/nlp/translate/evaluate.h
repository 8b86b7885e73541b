#pragma once

#include <ostream>
#include <string>

#include "examples/nlp/common/score.h"
#include "examples/nlp/translate/scores.h"

namespace translate {

/// How good the translations of a corpus are.
struct Report {
  std::string name;
  TranslationScores model;
  TranslationScores baseline;  ///< of what repeats the text as it is

  nlp::Figures figures() const;
  nlp::Counts counts() const;
  void print(std::ostream& out) const;
};

}  // namespace translate
