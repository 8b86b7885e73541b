#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "examples/nlp/common/names.h"
#include "examples/nlp/common/text_input.h"

namespace translate {

/// A text and its translation. Words are separated by single spaces.
struct Pair {
  std::string source, target;
  std::size_t line = 0;  ///< line number in its file, from 1
};
using Corpus = std::vector<Pair>;

/// Formats of pairs.
enum class Format {
  kTab,      ///< one pair a line: text, tab, translation
  kParallel  ///< two files, source.txt,target.txt, with equal numbers of lines
};
inline const nlp::Names<Format> kFormats = {{Format::kTab, "tab"}, {Format::kParallel, "parallel"}};

/// Reads all pairs; blank lines are ignored. Throws LineError for a malformed line and for a
/// missing source or target, UserError for files that cannot be read, that differ in length or that
/// have no pair.
Corpus read_pairs(const nlp::TextSource& source, Format format);

/// Number of words in both languages.
std::size_t count_words(const Corpus& corpus);
/// Word counts of one side.
std::map<std::string, std::size_t> words_of(const Corpus& corpus, std::string Pair::*side);

}  // namespace translate
