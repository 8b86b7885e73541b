#pragma once

#include <functional>
#include <string>
#include <vector>

#include "examples/nlp/common/conllu.h"
#include "examples/nlp/common/names.h"

namespace nlp {

/// Formats of input sentences.
enum class InputFormat {
  kWords,    ///< one sentence a line, words separated by spaces
  kText,     ///< running text, see `tokenize`
  kConllu,   ///< words of the column FORM
  kColumns,  ///< one word a line in the first column; a blank line after each sentence
};
inline const Names<InputFormat> kInputFormats = {{InputFormat::kWords, "words"},
                                                 {InputFormat::kText, "text"},
                                                 {InputFormat::kConllu, "conllu"},
                                                 {InputFormat::kColumns, "columns"}};
inline const char* const kInputFormatHelp =
    "words (a sentence a line, words separated by spaces), text (running text, split by the rules "
    "of Unicode), conllu or columns (the first one holds the word)";

struct InputSentence {
  std::string text;       ///< the line, for `words`
  conllu::Sentence rows;  ///< original CoNLL-U, or made from the words
};

/// Calls `use` with each sentence as soon as it is read; for `words` with each line, including
/// blank ones. Calls `before_waiting` before a read that would block. Throws LineError for
/// malformed input.
void for_sentences(const TextSource& source, InputFormat format,
                   const std::function<void(const InputSentence&)>& use,
                   const std::function<void()>& before_waiting = {});
/// `for_sentences`, but splits sentences of more than kMostWords words into pieces, with a warning.
/// For CoNLL-U, which cannot be split, throws LineError.
void for_pieces(const TextSource& source, InputFormat format,
                const std::function<void(const InputSentence&)>& use,
                const std::function<void()>& before_waiting = {});

}  // namespace nlp
