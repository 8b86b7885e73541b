#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "dynet-like/io/dict.h"
#include "dynet-like/param/parameters.h"

// Word vectors as text, one line per word: `word v1 v2 ...`; io/word_vectors.h has more formats.
// Errors: FileError.

namespace dynet {

/// Saves the rows of a table with the words of the dictionary, which must not contain white space.
/// Throws ArgumentError if there are fewer rows than words.
void save_pretrained_embeddings(const std::string& filename, const Dict& words,
                                const LookupParameter& table);
/// Adds the vectors of a file, by the numbers of their words. Unknown words are added to the
/// dictionary, or skipped if it is frozen. A first line of two numbers, as word2vec writes it, is
/// the number of words and of values. All vectors must have one length.
void read_pretrained_embeddings(const std::string& filename, Dict& words,
                                std::unordered_map<int, std::vector<float>>& vectors);

}  // namespace dynet
