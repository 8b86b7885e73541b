#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "examples/nlp/common/conllu.h"

namespace parser {

/// Items of a parsed file that are those of the right one.
struct FoundItems {
  std::size_t gold = 0, system = 0, correct = 0;
  /// The harmonic mean of precision and recall: 2 correct / (gold + system).
  double f1() const;
};

/// Counts of the evaluation of the CoNLL 2018 shared task (Zeman et al. 2018,
/// https://universaldependencies.org/conll18/evaluation.html), as far as these programs predict it.
/// Characters of the two files are equal, words may differ: words are matched by the characters
/// that they cover, words of multiword tokens by their longest common subsequence, where ASCII
/// letters are equal in both cases. Labels are compared up to a colon.
struct Conll18Scores {
  FoundItems tokens;     ///< on the surface, by their borders
  FoundItems sentences;  ///< by their borders
  FoundItems words;      ///< that are matched; the figures below are of words
  FoundItems upos, xpos;
  FoundItems uas;   ///< the head
  FoundItems las;   ///< the head and the label
  FoundItems clas;  ///< the same of content words
};

/// Throws UserError if the texts differ, LineError for heads that are no words of their sentence.
Conll18Scores conll18_scores(const std::vector<nlp::conllu::Sentence>& gold,
                             const std::vector<nlp::conllu::Sentence>& system);

/// Precision, recall and F1 of all of them, a line each.
void print(const Conll18Scores& scores, std::ostream& out);

}  // namespace parser
