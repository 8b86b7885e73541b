#pragma once

#include <memory>
#include <string>

#include "examples/mixed/emoji/corpus.h"
#include "examples/nlp/common/command_line.h"

namespace emoji {

/// Paths of the data, and options.
struct Sources {
  std::string unicode = "/usr/share/unicode";
  std::string cldr = "/usr/share/unicode/cldr";
  std::string font = "/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf";
  std::string language = "en";
  unsigned size = 32;             ///< of pictures
  bool tones = false;             ///< include variants in skin tone
  bool keep_label_words = false;  ///< keep words that occur in labels
};

/// All emoji, in the order of Unicode. Throws nlp::UserError for a missing file, with the name of
/// its Debian package, and for a malformed file.
Corpus gather(const Sources& sources);

/// The command `gather`: writes all emoji as lines of JSON.
std::unique_ptr<nlp::Command> gather_command();

}  // namespace emoji
