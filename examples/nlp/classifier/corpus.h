#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

namespace classifier {

/// A text and its label.
struct Sample {
  std::string label;
  std::vector<std::string> words;
};
using Corpus = std::vector<Sample>;

/// Reads one sample a line: a label, a tab, the text, whose words stand between white space. White
/// space around the label is none of it; blank lines mean nothing. Throws LineError for a line
/// without a tab, a label or a word, UserError for a file that cannot be read or holds no sample.
Corpus read_samples(const std::string& path);
/// The same from a stream; `name` stands for the file in messages.
Corpus read_samples(std::istream& in, const std::string& name);

std::size_t count_words(const Corpus& corpus);

}  // namespace classifier
