#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "examples/nlp/common/names.h"
#include "examples/nlp/common/text_input.h"

namespace translate {

/// A text and what it means in another language. Words stand between single spaces.
struct Pair {
  std::string source, target;
  std::size_t line = 0;  ///< of its file, from 1
};
using Corpus = std::vector<Pair>;

/// How pairs are written.
enum class Format {
  kTab,      ///< a line each: text, tab, translation
  kParallel  ///< two files, as in source.txt,target.txt, with as many lines
};
inline const nlp::Names<Format> kFormats = {{Format::kTab, "tab"}, {Format::kParallel, "parallel"}};

/// Reads all pairs; blank lines mean nothing. Throws LineError for a line that is not what the
/// format promises or where one of both is missing, UserError for files that cannot be read, that
/// are not equally long or that hold no pair.
Corpus read_pairs(const nlp::TextSource& source, Format format);

/// Words of both languages.
std::size_t count_words(const Corpus& corpus);
/// The words of one side, with how often they come.
std::map<std::string, std::size_t> words_of(const Corpus& corpus, std::string Pair::*side);

}  // namespace translate
