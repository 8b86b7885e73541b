#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "examples/nlp/common/text_input.h"

namespace nlp {

/// Words that were found in running text.
struct TokenizedSentence {
  std::vector<std::string> words;
  std::vector<bool> joined;  ///< by word: no space follows
};

/// Whether the program was built with ICU, without which `tokenize` throws UserError.
bool has_tokenizer();

/// The sentences of a paragraph, and their words, by the rules of Unicode for text of any language
/// (UAX #29, sections 4 and 5), as ICU has them. White space only separates. A place where a line
/// ends is a space.
std::vector<TokenizedSentence> tokenize(std::string_view paragraph);

/// The lines of a text between blank ones, as one.
struct Paragraph {
  std::string text;
  std::size_t first_line = 1;      ///< from 1
  std::vector<std::size_t> lines;  ///< where they begin in the text

  /// The number of the line that a byte is in.
  std::size_t line_at(std::size_t byte) const;
};

/// Calls `use` with each paragraph of a text.
void for_paragraphs(InputFile& in, const std::function<void(const Paragraph&)>& use);

}  // namespace nlp
