#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "examples/nlp/common/names.h"
#include "examples/vision/digits/picture.h"

namespace digits {

/// A picture and its label.
struct Sample {
  std::string label;
  Picture picture;
  std::size_t place = 0;  ///< line in its file, or index in it, from 1
};
using Corpus = std::vector<Sample>;

/// Formats of labelled pictures.
enum class Format {
  kAuto,       ///< detected
  kIdx,        ///< IMAGES:LABELS, two files as in MNIST
  kSemeion,    ///< one picture a line: 256 pixels, 0 or 1, and the digit, or ten indicator columns
  kOptdigits,  ///< one picture a line: 64 pixels from 0 to 16, and the digit, separated by commas
  kFolder      ///< a folder per label with pictures for read_picture
};
inline const nlp::Names<Format> kFormats = {{Format::kAuto, "auto"},
                                            {Format::kIdx, "idx"},
                                            {Format::kSemeion, "semeion"},
                                            {Format::kOptdigits, "optdigits"},
                                            {Format::kFolder, "folder"}};

/// Reads labelled pictures. kAuto detects folders and pairs of names with a colon, and other
/// formats by their first line. Files may be gzipped. Throws nlp::UserError, with the file and the
/// line if there is one, for malformed contents and for data without pictures.
Corpus read_corpus(const std::string& path, Format format);

/// Scales all pictures to one size.
void scale(Corpus& corpus, unsigned height, unsigned width);

/// "28x28"
std::string size_text(unsigned height, unsigned width);

/// Splits samples randomly into parts of nearly equal size; returns the part of each sample.
std::vector<unsigned> folds_of(std::size_t samples, unsigned folds, std::uint64_t seed);

}  // namespace digits
