#pragma once

#include <memory>
#include <string>

#include "examples/mixed/emoji/corpus.h"
#include "examples/nlp/common/command_line.h"

namespace emoji {

/// Paths of the data, and options that select from them.
struct Sources {
  std::string unicode = "/usr/share/unicode";
  std::string cldr = "/usr/share/unicode/cldr";
  std::string font = "/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf";
  std::string language = "en";
  unsigned size = 32;             ///< of the pictures
  bool tones = false;             ///< with the variants in tones of skin
  bool keep_label_words = false;  ///< leave words in that name groups
};

/// All emoji, in the order of Unicode. Throws nlp::UserError for a file that is missing, with the
/// name of the Debian package that has it, and for one that is not as it should be.
Corpus gather(const Sources& sources);

/// Writes them as lines of JSON.
std::unique_ptr<nlp::Command> gather_command();

}  // namespace emoji
