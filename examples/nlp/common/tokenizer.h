#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "examples/nlp/common/text_input.h"

namespace nlp {

/// Words of a sentence of running text.
struct TokenizedSentence {
  std::vector<std::string> words;
  std::vector<bool> joined;  ///< by word: true if no space follows
};

/// True if the program was built with ICU; otherwise `tokenize` throws UserError.
bool has_tokenizer();

/// Sentences of a paragraph and their words, by the Unicode rules for all languages (UAX #29,
/// sections 4 and 5) as implemented by ICU. White space only separates words, and a line end counts
/// as a space.
std::vector<TokenizedSentence> tokenize(std::string_view paragraph);

/// The text with its letters in lower case, by the Unicode rules for all languages; without ICU
/// only those of ASCII.
std::string unicode_lower_cased(std::string_view text);

/// Consecutive lines between blank lines, joined.
struct Paragraph {
  std::string text;
  std::size_t first_line = 1;      ///< from 1
  std::vector<std::size_t> lines;  ///< offsets of the lines in the text

  /// Line number of the byte at this offset.
  std::size_t line_at(std::size_t byte) const;
};

/// Calls `use` with each paragraph of a text.
void for_paragraphs(InputFile& in, const std::function<void(const Paragraph&)>& use);

}  // namespace nlp
