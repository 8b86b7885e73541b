#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "examples/nlp/common/conllu.h"

namespace nlp {

/// Counts of items in the gold and system files, and of matching items.
struct FoundItems {
  std::size_t gold = 0, system = 0, correct = 0;
  std::size_t aligned = 0;  ///< items of words that both files have; 0 for tokens and sentences
  /// Harmonic mean of precision and recall: 2 correct / (gold + system).
  double f1() const;
};

/// Scores of the CoNLL 2018 shared task (Zeman et al. 2018,
/// https://universaldependencies.org/conll18/evaluation.html). The two files must have equal
/// characters, but words may differ: words are aligned by the characters that they cover, words of
/// multiword tokens by their longest common subsequence, ignoring case (without ICU, that of ASCII
/// letters only). Label subtypes after a colon and features outside the universal ones are ignored.
/// A head that is `_` in either file is not correct.
struct Conll18Scores {
  FoundItems tokens;     ///< surface tokens, by their boundaries
  FoundItems sentences;  ///< by their boundaries
  FoundItems words;      ///< aligned words; the scores below are of words
  FoundItems upos, xpos;
  FoundItems ufeats;    ///< universal features
  FoundItems all_tags;  ///< UPOS, XPOS and universal features
  FoundItems lemmas;    ///< a gold lemma of `_` accepts any
  FoundItems uas;       ///< correct head
  FoundItems las;       ///< correct head and label
  // The last three are of content words.
  FoundItems clas;  ///< LAS
  FoundItems mlas;  ///< LAS, UPOS, universal features, and all of these of their function words
  FoundItems blex;  ///< LAS and lemma

  /// All scores in the order above with their names in the shared task.
  std::vector<std::pair<std::string, FoundItems>> named() const;
};

/// Throws UserError if the texts differ, LineError for heads outside their sentence.
Conll18Scores conll18_scores(const std::vector<conllu::Sentence>& gold,
                             const std::vector<conllu::Sentence>& system);

/// Prints precision, recall, F1 and the share of aligned words that are correct of all scores, one
/// score per line.
void print(const Conll18Scores& scores, std::ostream& out);

}  // namespace nlp
