#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "dynet-like/io/dict.h"
#include "dynet-like/param/parameters.h"

// Word vectors as text: a line for each word, `word v1 v2 ...`; io/word_vectors.h does more.
// Errors: FileError.

namespace dynet {

/// The rows of a table, by the words of the dictionary, which have no white space. Throws
/// ArgumentError unless there are at least as many rows as words.
void save_pretrained_embeddings(const std::string& filename, const Dict& words,
                                const LookupParameter& table);
/// Adds the vectors of a file, by the numbers of their words; the dictionary gets words that it
/// does not have, unless it is frozen: then they are left out. A first line of two numbers, as
/// word2vec writes it, is the number of words and of values. All vectors must have one length.
void read_pretrained_embeddings(const std::string& filename, Dict& words,
                                std::unordered_map<int, std::vector<float>>& vectors);

}  // namespace dynet
