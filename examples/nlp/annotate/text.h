#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "examples/nlp/common/characters.h"
#include "examples/nlp/common/conllu.h"

namespace annotate {

/// Surface token of a paragraph.
struct Token {
  std::size_t begin = 0, end = 0;  ///< letters [begin, end) of the paragraph
  /// Words that the token is made of; empty for a token that is one word.
  std::vector<std::string> words = {};
  bool operator==(const Token&) const = default;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& begin& end& words;
  }
};
using Tokens = std::vector<Token>;

/// Text up to a blank line, as code points; a sentence never crosses its ends. White space behind a
/// paragraph belongs to it, that before the first one too, so that all paragraphs are the text.
struct Paragraph {
  std::u32string letters;
  std::vector<Tokens> sentences;  ///< empty for text that is not cut yet
  bool continues = false;         ///< true: goes on with the paragraph before, in a new sentence

  /// Text of letters [begin, end) as UTF-8.
  std::string text(std::size_t begin, std::size_t end) const;
};

using nlp::code_points;
using nlp::utf8;

/// True for white space: the properties White_Space of Unicode, and the byte order mark.
bool is_space(char32_t letter);

/// The letters in lower case, each for itself.
std::u32string lower_case(std::u32string letters);

/// White space, and in MISC also `|`, as UDPipe writes them: `\s` for a space, `\t`, `\r`, `\n`,
/// `\p` for `|` and `\\` for a backslash; and the reverse. Other white space, which UD does not
/// allow at the ends of a field, is `\u` and its code as four hexadecimal digits.
std::string escaped(std::u32string_view letters);
std::u32string unescaped(std::string_view text);

/// Text of the sentences of a treebank, with its tokens. `# newdoc` and `# newpar` begin a
/// paragraph. Tokens are separated by a space unless MISC says otherwise: `SpaceAfter=No`,
/// `SpacesAfter`, `SpacesBefore`, and `SpacesInToken` with the token as it is in the text. In
/// treebanks that say nothing of spaces closing punctuation follows its word without one, unless
/// `guess` is false. Throws LineError for a blank token, and for spaces in MISC that contradict the
/// form.
std::vector<Paragraph> paragraphs_of(const std::vector<nlp::conllu::Sentence>& sentences,
                                     bool guess = true);

}  // namespace annotate
