#pragma once

#include <functional>
#include <string>
#include <vector>

#include "examples/nlp/common/conllu.h"
#include "examples/nlp/common/names.h"

namespace nlp {

/// How sentences that a model is to work on are written.
enum class InputFormat {
  kWords,    ///< one a line, words separated by spaces
  kText,     ///< running text, see `tokenize`
  kConllu,   ///< words are those of the column FORM
  kColumns,  ///< a line a word, which is its first column; a blank line behind a sentence
};
inline const Names<InputFormat> kInputFormats = {{InputFormat::kWords, "words"},
                                                 {InputFormat::kText, "text"},
                                                 {InputFormat::kConllu, "conllu"},
                                                 {InputFormat::kColumns, "columns"}};
inline const char* const kInputFormatHelp =
    "words (a sentence a line, words separated by spaces), text (running text, split by the rules "
    "of Unicode), conllu or columns (the first one holds the word)";

struct InputSentence {
  std::string text;       ///< the line, of `words`
  conllu::Sentence rows;  ///< of CoNLL-U as it was, of other formats made from the words
};

/// Calls `use` with each sentence as soon as it is read; of `words` with each line, blank or not;
/// and `before_waiting` whenever reading on would wait for input. Throws LineError for
/// what is not of that format.
void for_sentences(const TextSource& source, InputFormat format,
                   const std::function<void(const InputSentence&)>& use,
                   const std::function<void()>& before_waiting = {});
/// The same, but a sentence of more than kMostWords words comes in pieces of so many, and a warning
/// says so. One of CoNLL-U, whose lines say what belongs together, throws LineError.
void for_pieces(const TextSource& source, InputFormat format,
                const std::function<void(const InputSentence&)>& use,
                const std::function<void()>& before_waiting = {});

}  // namespace nlp
