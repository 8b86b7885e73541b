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
  std::size_t line = 0;  ///< line number in its file, from 1
};
using Corpus = std::vector<Sample>;

/// Reads one sample a line: a label, a tab, and words separated by white space. White space around
/// the label is ignored, and so are blank lines. Throws LineError for a line without a tab, a label
/// or a word, UserError for a file that cannot be read or has no sample.
Corpus read_samples(const nlp::TextSource& source);
/// Reads a stream; `source` is its name in messages.
Corpus read_samples(std::istream& in, const nlp::TextSource& source);

std::size_t count_words(const Corpus& corpus);

}  // namespace classifier
