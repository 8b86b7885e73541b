#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "examples/nlp/common/text_input.h"

namespace nlp {

// CoNLL-U, as https://universaldependencies.org/format.html has it: ten columns separated by tabs,
// a line a word, a blank line behind each sentence.

namespace conllu {
enum Column : std::size_t {
  kId,
  kForm,
  kLemma,
  kUpos,
  kXpos,
  kFeats,
  kHead,
  kDeprel,
  kDeps,
  kMisc,
  kColumns
};
inline constexpr std::array<const char*, kColumns> kNames = {
    "ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"};

/// A name, in any case, or a number from 1. Throws UserError.
Column column_of(const std::string& wanted);

/// Whether a line is of a file of CoNLL-U and hardly of another: a word, or a comment that only
/// such files have.
bool is_conllu(const std::string& line);

/// Several words that are written as one.
struct Multiword {
  std::size_t begin, end;  ///< the words, from 0
  std::string form;
};

/// Line numbers of words in a file: the line of the first word, and lines from word to word.
struct WordLines {
  std::size_t first = 1, step = 1;
};

/// A sentence as it was written: its comments, multiword tokens and empty nodes are kept.
class Sentence {
 public:
  Sentence() = default;
  /// From some of the lines of a text, of which `lines` begins behind the first `before`. Throws
  /// LineError for what is not of that form, for words that do not count from 1, and for multiword
  /// tokens and empty nodes that are not where they belong.
  Sentence(const std::vector<std::string>& lines, const LineRange& range, const std::string& name,
           std::size_t before = 0);
  /// Makes a sentence of plain words; `joined` marks the words with no space behind them.
  Sentence(const std::vector<std::string>& words, const std::vector<bool>& joined,
           const std::string& name, const WordLines& place);

  /// Words.
  std::size_t size() const { return word_lines_.size(); }
  /// All columns of a word.
  std::vector<std::string> fields(std::size_t word) const;
  /// Throws LineError if this one of its fields is empty: "the tag (column 4, UPOS) is empty".
  void require_filled(std::size_t word, const std::vector<std::string>& fields, Column column,
                      const std::string& what) const;
  std::vector<std::string> words() const;
  void set(std::size_t word, Column column, const std::string& text);
  std::vector<Multiword> multiwords() const;
  /// The words [begin, end) of a sentence that was made of words.
  Sentence piece(std::size_t begin, std::size_t end) const;

  const std::vector<std::string>& lines() const { return lines_; }
  const std::string& file() const { return name_; }
  /// Line number of the word in its file, from 1.
  std::size_t line_number(std::size_t word) const {
    return place_.first + place_.step * word_lines_[word];
  }
  [[noreturn]] void refuse(std::size_t word, const std::string& what) const;

 private:
  std::string name_;  ///< of the file
  WordLines place_;
  std::vector<std::string> lines_;
  std::vector<std::size_t> word_lines_;  ///< places in `lines_`
};

/// A field MISC with a probability added as Prob, or instead of one that it has.
std::string with_probability(const std::string& misc, float probability);

/// All sentences. Throws LineError, and UserError if there is none.
std::vector<Sentence> read(const TextSource& source);
}  // namespace conllu

}  // namespace nlp
