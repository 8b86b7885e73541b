#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "examples/nlp/common/conllu.h"

namespace parser {

/// Counts of items in the gold and system files, and of matching items.
struct FoundItems {
  std::size_t gold = 0, system = 0, correct = 0;
  /// Harmonic mean of precision and recall: 2 correct / (gold + system).
  double f1() const;
};

/// Scores of the CoNLL 2018 shared task (Zeman et al. 2018,
/// https://universaldependencies.org/conll18/evaluation.html), restricted to the columns that these
/// programs predict. The two files must have equal characters, but words may differ: words are
/// aligned by the characters that they cover, words of multiword tokens by their longest common
/// subsequence, ignoring the case of ASCII letters. Label subtypes after a colon are ignored.
struct Conll18Scores {
  FoundItems tokens;     ///< surface tokens, by their boundaries
  FoundItems sentences;  ///< by their boundaries
  FoundItems words;      ///< aligned words; the scores below are of words
  FoundItems upos, xpos;
  FoundItems uas;   ///< correct head
  FoundItems las;   ///< correct head and label
  FoundItems clas;  ///< LAS of content words
};

/// Throws UserError if the texts differ, LineError for heads outside their sentence.
Conll18Scores conll18_scores(const std::vector<nlp::conllu::Sentence>& gold,
                             const std::vector<nlp::conllu::Sentence>& system);

/// Prints precision, recall and F1 of all scores, one per line.
void print(const Conll18Scores& scores, std::ostream& out);

}  // namespace parser
