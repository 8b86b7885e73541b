#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"

namespace nlp {

/// Pretrained word vectors.
struct WordVectors {
  std::vector<std::string> words;
  unsigned size = 0;           ///< size of a vector
  std::vector<float> numbers;  ///< all vectors, concatenated
};

/// Reads a file of word2vec, GloVe or fastText, or a file with the arrays `vectors` and `words`,
/// such as safetensors from `dynet-like convert`. Throws UserError for other files.
WordVectors read_vectors(const std::string& path);

/// `known`, followed by the words of the vectors that it lacks.
std::vector<std::string> with_words_of(const WordVectors& vectors, std::vector<std::string> known);

/// Copies the vectors into the rows of the words, the first `trained` of which are kUnknown, if
/// present, and words of the training data; prints how many words have vectors in total and in the
/// training data. A word without a vector gets that of its lower-case form; the first of several
/// vectors counts.
void use_vectors(const WordVectors& vectors, const std::vector<std::string>& words,
                 std::size_t trained, dynet::LookupParameter& table, std::ostream& out);

}  // namespace nlp
