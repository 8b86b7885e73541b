#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

#include "examples/nlp/common/text_input.h"

namespace classifier {

/// A text and its label.
struct Sample {
  std::string label;
  std::vector<std::string> words;
  std::size_t line = 0;  ///< of its file, from 1
};
using Corpus = std::vector<Sample>;

/// Reads one sample a line: a label, a tab, the text, whose words stand between white space. White
/// space around the label is none of it; blank lines mean nothing. Throws LineError for a line
/// without a tab, a label or a word, UserError for a file that cannot be read or holds no sample.
Corpus read_samples(const nlp::TextSource& source);
/// The same from a stream; `source` says what messages call it.
Corpus read_samples(std::istream& in, const nlp::TextSource& source);

std::size_t count_words(const Corpus& corpus);

}  // namespace classifier
