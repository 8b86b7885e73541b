#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "examples/nlp/tagger/corpus.h"

namespace tagger {

/// Running text as a tagging task: the words are lower-cased and bare, and the tag of a word says
/// what was taken away, so that words and tags give the text back.
///
///     And God said, Let there be light:
///     and|Title god|Title said|lower, let|Title there|lower be|lower light|lower:
///
/// A tag is `[before]case[after]`:
///  - before: marks in front of the word, say `(`, or nothing;
///  - case: `lower`, `Title` (the first letter alone), `UPPER` (more than one letter, up to an
///    apostrophe: LORD's), or `caps-0-6` (these letters, counted from 0);
///  - after: the marks that follow, say `,` or `;)`, or nothing. `_` in either part stands for a
///    space, and a final `+` says that the next word follows without one.
///
/// Letters, digits, `_`, `+`, `|`, all bytes above 127, apostrophes beside one of these and hyphens
/// between two belong to words; everything else is a mark. Only ASCII letters change their case.
Sentence annotate(std::string_view text);

/// A tag in its three parts; `casing` is empty if the text is no such tag.
struct MarkedCase {
  std::string before;
  std::string casing;
  std::string after;
};
MarkedCase parse_tag(std::string_view tag);

/// The text that words and tags stand for. Of annotate(text) it is `text`, but for white space:
/// runs of it become one space, and what is at the two ends goes. A tag that is no tag of this
/// kind leaves its word as it is.
std::string restore(const std::vector<std::string>& words, const std::vector<std::string>& tags);

}  // namespace tagger
