#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

#include "examples/nlp/common/names.h"
#include "examples/nlp/common/text_input.h"

namespace tagger {

/// A sentence with one tag per word.
struct Sentence {
  std::vector<std::string> words;
  std::vector<std::string> tags;
  std::string name;      ///< source of the sentence, such as a verse, or empty
  std::size_t line = 0;  ///< first line in its file, from 1
};

using Corpus = std::vector<Sentence>;

/// Formats of a file.
enum class Format {
  kAuto,     ///< detected from the first lines
  kConllu,   ///< CoNLL-U: ten columns separated by tabs, a blank line after each sentence
  kPipe,     ///< one sentence a line, `word|TAG` separated by spaces, see pipe.h
  kColumns,  ///< a word and its tag on each line, a blank line between sentences
  kBible,    ///< one verse a line, `Ge1:1 In the beginning ...`, tags are case and punctuation
  kText,     ///< plain text, one sentence a line, tags are case and punctuation
  kParallel  ///< two files with equal lines: words of a sentence, and tags
};

inline const nlp::Names<Format> kFormats = {
    {Format::kAuto, "auto"},        {Format::kConllu, "conllu"}, {Format::kPipe, "pipe"},
    {Format::kColumns, "columns"},  {Format::kBible, "bible"},   {Format::kText, "text"},
    {Format::kParallel, "parallel"}};

const char* format_name(Format format);
/// Format with this name; throws UserError that lists the names.
Format format_from_name(const std::string& name);
/// True for formats with tags for the case and punctuation of running text.
inline bool is_running_text(Format format) {
  return format == Format::kBible || format == Format::kText;
}

struct ReadOptions {
  Format format = Format::kAuto;
  /// Column of the tag: a CoNLL-U column name (UPOS, XPOS, ...) or a number from 1.
  /// Empty: UPOS in CoNLL-U, the last column in column files.
  std::string column;
};

/// A corpus and its detected format.
struct ReadResult {
  Corpus corpus;
  Format format = Format::kAuto;
};

/// Reads all sentences. Parallel files are given as a folder with `seq.in` and `seq.out`, or as
/// `words,tags`. Throws LineError for a malformed line, UserError for a file that cannot be read or
/// has no sentence.
ReadResult read_corpus(const nlp::TextSource& text, const ReadOptions& options = {});
/// Reads a stream; `text` is its name in messages.
ReadResult read_corpus(std::istream& in, const nlp::TextSource& text,
                       const ReadOptions& options = {});

/// Detects the format from the first lines; throws LineError if none fits.
Format guess_format(const std::vector<std::string>& lines, const std::string& name);

std::size_t count_words(const Corpus& corpus);

}  // namespace tagger
