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
  std::size_t place = 0;  ///< of its file, from 1: a line, or one of many pictures
};
using Corpus = std::vector<Sample>;

/// How labelled pictures are stored.
enum class Format {
  kAuto,       ///< what the file is
  kIdx,        ///< IMAGES:LABELS, two files as MNIST has them
  kSemeion,    ///< a line each: 256 pixels, 0 or 1, and the digit, or ten columns for it
  kOptdigits,  ///< a line each: 64 pixels of 0 to 16, and the digit, with commas between them
  kFolder      ///< a folder with a folder for each label, of pictures that read_picture reads
};
inline const nlp::Names<Format> kFormats = {{Format::kAuto, "auto"},
                                            {Format::kIdx, "idx"},
                                            {Format::kSemeion, "semeion"},
                                            {Format::kOptdigits, "optdigits"},
                                            {Format::kFolder, "folder"}};

/// Reads labelled pictures. A folder, or two names with a colon between them, are what they look
/// like; of another file its first line tells. Files may be compressed by gzip. Throws
/// nlp::UserError, with the file and, where it has some, the line, for what does not follow its
/// format, or holds no picture.
Corpus read_corpus(const std::string& path, Format format);

/// All pictures in one size.
void scale(Corpus& corpus, unsigned height, unsigned width);

/// "28x28"
std::string size_text(unsigned height, unsigned width);

/// Cuts pictures into so many parts of about one size, drawn by the seed: the part of each.
std::vector<unsigned> folds_of(std::size_t samples, unsigned folds, std::uint64_t seed);

}  // namespace digits
