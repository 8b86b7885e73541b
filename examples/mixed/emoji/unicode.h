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

/// An emoji of emoji-test.txt.
struct Entry {
  std::u32string points;  ///< its code points
  double version = 0;     ///< of Unicode's list of emoji that it came with
  std::string group, subgroup;

  /// As UTF-8.
  std::string text() const;
};

/// Entries of emoji-test.txt that are fully qualified. Components, which are no emoji by
/// themselves, are omitted, and so are variants of an emoji with another skin tone unless `tones`
/// includes them.
std::vector<Entry> read_entries(const nlp::TextSource& source, bool tones);

/// Family of an emoji, as hexadecimal code points: variants in skin tone, gender and number of
/// children have one family.
std::string family_of(const std::u32string& points);

/// A property of code points, as in Blocks.txt: lines `first..last; value` or `point; value`, and
/// comments behind '#'.
class Property {
 public:
  explicit Property(const nlp::TextSource& source);
  /// Those lines alone that have this value; of several values of a point the last one counts.
  Property(const nlp::TextSource& source, const std::string& value);

  /// Empty for a point that has none.
  const std::string& of(char32_t point) const;
  bool has(char32_t point) const { return !of(point).empty(); }

 private:
  struct Range {
    char32_t last;
    std::string value;
  };
  void read(const nlp::TextSource& source, const std::string* only);

  std::map<char32_t, Range> ranges_;  ///< by their first points
};

/// The emoji that Japanese operators had before Unicode, by their code points, and which of the
/// three (DoCoMo, KDDI, SoftBank) had them: EmojiSources.txt.
std::map<std::u32string, std::vector<bool>> read_carriers(const nlp::TextSource& source);

/// Names and keywords from the annotations of a language, by the emoji without variation selectors.
/// A file may be read on top of another.
class Annotations {
 public:
  /// Throws nlp::UserError for a file that is no XML or has no annotations.
  void read(const std::string& path);
  /// Lower-cased words, each once, in order; none if nothing is said of it.
  std::vector<std::string> words_of(const std::string& emoji) const;

 private:
  std::map<std::string, std::string> texts_;
};

/// The words of a text, lower-cased (as far as they are ASCII), without punctuation.
std::vector<std::string> plain_words(const std::string& text);

/// Whether a word is one of those that labels are made of, singular or plural: "flags" in "Flags",
/// "animal" in "Animals & Nature" and in "animal-bird".
class LabelWords {
 public:
  void add(const std::string& label);
  bool contain(const std::string& word) const;

 private:
  std::set<std::string> stems_;
};

}  // namespace emoji
