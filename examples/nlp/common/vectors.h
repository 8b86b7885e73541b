#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"

namespace nlp {

/// Words with vectors that somebody else made.
struct WordVectors {
  std::vector<std::string> words;
  unsigned size = 0;           ///< of a vector
  std::vector<float> numbers;  ///< vector after vector
};

/// Those of a file: word2vec's, GloVe's or fastText's, or arrays `vectors` and `words` of a file
/// of safetensors, say, that `dynet-like convert` made of one. Throws UserError for other files.
WordVectors read_vectors(const std::string& path);

/// `known`, and behind them the words of the vectors that are not among them.
std::vector<std::string> with_words_of(const WordVectors& vectors, std::vector<std::string> known);

/// Puts the vectors into the rows of the words, of which the first `trained` are those of the
/// training data and perhaps kUnknown, and says how many words the vectors are of and how many of
/// the training data have one. A word without one takes that of its lower case; of a word with
/// several the first counts.
void use_vectors(const WordVectors& vectors, const std::vector<std::string>& words,
                 std::size_t trained, dynet::LookupParameter& table, std::ostream& out);

}  // namespace nlp
