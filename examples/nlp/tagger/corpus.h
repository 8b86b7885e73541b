#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

#include "examples/nlp/common/text_input.h"

namespace tagger {

/// A sentence with one tag per word.
struct Sentence {
  std::vector<std::string> words;
  std::vector<std::string> tags;
  std::string name;      ///< where it comes from (a verse, say) or empty
  std::size_t line = 0;  ///< where it begins in its file, from 1
};

using Corpus = std::vector<Sentence>;

/// How sentences are written in a file.
enum class Format {
  kAuto,     ///< guessed from the first lines
  kConllu,   ///< CoNLL-U: ten columns separated by tabs, a blank line after each sentence
  kPipe,     ///< one sentence a line, `word|TAG` separated by spaces, see pipe.h
  kColumns,  ///< a word and its tag on each line, a blank line between sentences
  kBible,    ///< one verse a line, `Ge1:1 In the beginning ...`, tags are case and marks
  kText,     ///< plain text, one sentence a line, tags are case and marks
  kParallel  ///< two files, the words of a sentence in each line of one, its tags in the other
};

const char* format_name(Format format);
/// The format of that name; throws UserError listing the names.
Format format_from_name(const std::string& name);
/// True for the formats whose tags are the case and the marks of running text.
inline bool is_running_text(Format format) {
  return format == Format::kBible || format == Format::kText;
}

struct ReadOptions {
  Format format = Format::kAuto;
  /// Column of the tag: a CoNLL-U column name (UPOS, XPOS, ...) or a number from 1.
  /// Empty: UPOS in CoNLL-U, the last column in column files.
  std::string column;
};

/// A corpus and the format it was found to have.
struct ReadResult {
  Corpus corpus;
  Format format = Format::kAuto;
};

/// Reads all sentences. Those in two files are in a folder with `seq.in` and `seq.out`, or named as
/// `words,tags`. Throws LineError for a line that is not as the format wants it, UserError
/// for a file that cannot be read or holds no sentence.
ReadResult read_corpus(const nlp::TextSource& text, const ReadOptions& options = {});
/// The same from a stream; `text` says what messages call it.
ReadResult read_corpus(std::istream& in, const nlp::TextSource& text,
                       const ReadOptions& options = {});

/// The format that the first lines show; throws LineError when they fit none.
Format guess_format(const std::vector<std::string>& lines, const std::string& name);

std::size_t count_words(const Corpus& corpus);

}  // namespace tagger
