#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "examples/nlp/common/split.h"
#include "examples/nlp/common/text_input.h"

namespace emoji {

/// A square picture.
struct Picture {
  static constexpr unsigned kChannels = 4;  ///< red, green, blue, opacity

  unsigned size = 0;                 ///< its width and height
  std::vector<std::uint8_t> points;  ///< line by line from the top, each kChannels bytes; colours
                                     ///< are multiplied by the opacity
};

/// A cell of a table: a number, or one of some words.
using Cell = std::variant<double, std::string>;
/// Cells by the names of their columns; cells may be missing.
using Row = std::map<std::string, Cell>;

/// An emoji with its labels and inputs. Each of its parts may be missing.
struct Sample {
  std::string emoji;            ///< itself, UTF-8
  std::string family;           ///< equal for emoji that look nearly alike
  std::string group, subgroup;  ///< empty: to be predicted
  std::optional<Picture> image;
  std::vector<std::string> words;  ///< empty: none
  Row row;                         ///< empty: none
  std::size_t line = 0;            ///< of its file, from 1
};
using Corpus = std::vector<Sample>;

/// Whether samples must say what they are.
enum class Labels { kNeeded, kOptional };

/// A sample from a line, a JSON object:
///
///     {"emoji": "🐈", "family": "1F408", "group": "Animals & Nature", "subgroup": "animal-mammal",
///      "words": ["cat", "pet"], "row": {"block": "...", "age": 6}, "image": "00ff..."}
///
/// All may be missing but the group and the subgroup, and these too where labels are optional; null
/// is missing. An image is size x size x 4 bytes in hexadecimal digits, a cell of the row a text, a
/// number, true or false. Throws LineError, with the file and the number of the line, for one that
/// is not so.
Sample read_sample(const std::string& line, const std::string& file, std::size_t number,
                   Labels labels);

/// Reads samples with their labels, one a line; blank lines mean nothing. Throws LineError for a
/// line that is none, and for a picture of another size than the first one; UserError for a file
/// that cannot be read, or holds no sample.
Corpus read_samples(const nlp::TextSource& source);

/// The line of a sample, without what is missing.
std::string line_of(const Sample& sample);

/// The part that a sample belongs to: depends on nothing but its family, the split and the seed, so
/// that a family is never on both sides.
nlp::Part part_of(const Sample& sample, const nlp::Split& split, std::uint64_t seed);
/// The samples of that part, in order; all of them for nlp::Part::kAll.
Corpus take_part(const Corpus& corpus, const nlp::Split& split, std::uint64_t seed, nlp::Part part);

}  // namespace emoji
