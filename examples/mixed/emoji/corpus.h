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

  unsigned size = 0;                 ///< width and height
  std::vector<std::uint8_t> points;  ///< from the top row, kChannels bytes per point; colours are
                                     ///< premultiplied by the opacity
};

/// Cell of a table: a number or a categorical value.
using Cell = std::variant<double, std::string>;
/// Cells by column name; cells may be missing.
using Row = std::map<std::string, Cell>;

/// An emoji with its labels and inputs. Every member may be missing.
struct Sample {
  std::string emoji;            ///< the emoji in UTF-8
  std::string family;           ///< identical for emoji that look alike
  std::string group, subgroup;  ///< empty: to be predicted
  std::optional<Picture> image;
  std::vector<std::string> words;  ///< empty: missing
  Row row;                         ///< empty: missing
  std::size_t line = 0;            ///< line number in its file, from 1
};
using Corpus = std::vector<Sample>;

/// Whether samples must have labels.
enum class Labels { kNeeded, kOptional };

/// Reads a sample from a line, a JSON object:
///
///     {"emoji": "🐈", "family": "1F408", "group": "Animals & Nature", "subgroup": "animal-mammal",
///      "words": ["cat", "pet"], "row": {"block": "...", "age": 6}, "image": "00ff..."}
///
/// All members are optional except the group and the subgroup, which are optional with
/// Labels::kOptional; null counts as missing. An image is size x size x 4 bytes in hexadecimal, a
/// cell of the row a text, a number, true or false. Throws LineError, with the file and the line
/// number, for any other content.
Sample read_sample(const std::string& line, const std::string& file, std::size_t number,
                   Labels labels);

/// Reads labelled samples, one a line; blank lines are ignored. Throws LineError for a malformed
/// line, and for a picture that differs in size from the first one; UserError for a file that
/// cannot be read or has no sample.
Corpus read_samples(const nlp::TextSource& source);

/// The line of a sample, without missing members.
std::string line_of(const Sample& sample);

/// Part of a split that a sample belongs to: a function of its family, the split and the seed, so
/// that a family is never in two parts.
nlp::Part part_of(const Sample& sample, const nlp::Split& split, std::uint64_t seed);
/// Samples of this part, in order; all samples for nlp::Part::kAll.
Corpus take_part(const Corpus& corpus, const nlp::Split& split, std::uint64_t seed, nlp::Part part);

}  // namespace emoji
