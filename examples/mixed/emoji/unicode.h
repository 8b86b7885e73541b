#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "examples/nlp/common/text_input.h"

// Readers of emoji data of Unicode and CLDR, from the files of the Debian packages unicode-data and
// unicode-cldr-core. All readers throw nlp::LineError for a line that violates its format, and
// nlp::UserError for a file that cannot be read or contains no entry.

namespace emoji {

/// Entry of emoji-test.txt.
struct Entry {
  std::u32string points;
  double version = 0;  ///< version of Unicode's emoji list that introduced it
  std::string group, subgroup;

  /// UTF-8 text.
  std::string text() const;
};

/// Fully qualified entries of emoji-test.txt, without components and, unless `tones`, without
/// variants in skin tone.
std::vector<Entry> read_entries(const nlp::TextSource& source, bool tones);

/// Family of an emoji, as hexadecimal code points: variants in skin tone, gender and number of
/// children belong to one family.
std::string family_of(const std::u32string& points);

/// Property of code points, as in Blocks.txt: lines `first..last; value` or `point; value`, and
/// comments after '#'.
class Property {
 public:
  explicit Property(const nlp::TextSource& source);
  /// Only lines with this value; the last of several values of a point counts.
  Property(const nlp::TextSource& source, const std::string& value);

  /// Value of a point; empty if there is none.
  const std::string& of(char32_t point) const;
  bool has(char32_t point) const { return !of(point).empty(); }

 private:
  struct Range {
    char32_t last;
    std::string value;
  };
  void read(const nlp::TextSource& source, const std::string* only);

  std::map<char32_t, Range> ranges_;  ///< by first point
};

/// Emoji that Japanese operators had before Unicode, by code points, with a flag per operator
/// (DoCoMo, KDDI, SoftBank): EmojiSources.txt.
std::map<std::u32string, std::vector<bool>> read_carriers(const nlp::TextSource& source);

/// Names and keywords from the annotations of a language, by emoji without variation selectors.
/// Several files may be read.
class Annotations {
 public:
  /// Throws nlp::UserError for a file that is not XML or has no annotations.
  void read(const std::string& path);
  /// Distinct lower-cased words, in order; empty for an emoji without annotations.
  std::vector<std::string> words_of(const std::string& emoji) const;

 private:
  std::map<std::string, std::string> texts_;
};

/// Words of a text, without punctuation; ASCII letters are lower-cased.
std::vector<std::string> plain_words(const std::string& text);

/// Set of words that occur in labels, in singular and plural: "flags" from "Flags", "animal" from
/// "Animals & Nature" and "animal-bird".
class LabelWords {
 public:
  void add(const std::string& label);
  bool contain(const std::string& word) const;

 private:
  std::set<std::string> stems_;
};

}  // namespace emoji
