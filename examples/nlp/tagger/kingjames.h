#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "examples/nlp/tagger/corpus.h"

namespace tagger {

/// Running text as a tagging task: words are lower-cased and stripped of punctuation, and the tag
/// of a word encodes the removed information, so that words and tags restore the text.
///
///     And God said, Let there be light:
///     and|Title god|Title said|lower, let|Title there|lower be|lower light|lower:
///
/// A tag is `[before]case[after]`:
///  - before: marks before the word, such as `(`, or nothing;
///  - case: `lower`, `Title` (first letter only), `UPPER` (more than one letter, up to an
///    apostrophe: LORD's), or `caps-0-6` (upper-case letters by index from 0);
///  - after: marks after the word, such as `,` or `;)`, or nothing. `_` in either part means a
///    space, and a final `+` means that no space precedes the next word.
///
/// Word characters: letters, digits, `_`, `+`, `|`, all bytes above 127, apostrophes next to one of
/// these, and hyphens between two of these; everything else is a mark. Only ASCII letters change
/// case.
Sentence annotate(std::string_view text);

/// Parsed tag; `casing` is empty for an invalid tag.
struct MarkedCase {
  std::string before;
  std::string casing;
  std::string after;
};
MarkedCase parse_tag(std::string_view tag);

/// Restores the text of words and tags. The result for annotate(text) is `text` with normalized
/// white space: runs become one space, and both ends are trimmed. An invalid tag leaves its word
/// unchanged.
std::string restore(const std::vector<std::string>& words, const std::vector<std::string>& tags);

}  // namespace tagger
