#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "examples/nlp/common/text_input.h"

namespace nlp {

// CoNLL-U, see https://universaldependencies.org/format.html: one word per line in ten
// tab-separated columns, a blank line after each sentence.

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

/// Column with this name, in any case, or this number, from 1. Throws UserError.
Column column_of(const std::string& wanted);

/// True for a line that is characteristic of CoNLL-U: a word, or a comment used only there.
bool is_conllu(const std::string& line);

/// Several syntactic words written as one.
struct Multiword {
  std::size_t begin, end;  ///< words [begin, end), from 0
  std::string form, misc;
};

/// Line numbers of words in a file: that of the first word, and the step between words.
struct WordLines {
  std::size_t first = 1, step = 1;
};

/// Sentence that preserves its comments, multiword tokens and empty nodes.
class Sentence {
 public:
  Sentence() = default;
  /// Parses lines of a text; `lines` starts after the first `before` lines of the text. Throws
  /// LineError for malformed lines, for word numbers that are not consecutive from 1, and for
  /// misplaced multiword tokens and empty nodes.
  Sentence(const std::vector<std::string>& lines, const LineRange& range, const std::string& name,
           std::size_t before = 0);
  /// Makes a sentence from plain words; `joined` marks words that are not followed by a space.
  Sentence(const std::vector<std::string>& words, const std::vector<bool>& joined,
           const std::string& name, const WordLines& place);

  /// Number of words.
  std::size_t size() const { return word_lines_.size(); }
  /// Columns of a word.
  std::vector<std::string> fields(std::size_t word) const;
  /// Throws LineError if this field is empty: "the tag (column 4, UPOS) is empty".
  void require_filled(std::size_t word, const std::vector<std::string>& fields, Column column,
                      const std::string& what) const;
  std::vector<std::string> words() const;
  void set(std::size_t word, Column column, const std::string& text);
  std::vector<Multiword> multiwords() const;
  /// Words [begin, end) of a sentence made from plain words.
  Sentence piece(std::size_t begin, std::size_t end) const;

  const std::vector<std::string>& lines() const { return lines_; }
  const std::string& file() const { return name_; }
  /// Line number of a word in its file, from 1.
  std::size_t line_number(std::size_t word) const {
    return place_.first + place_.step * word_lines_[word];
  }
  [[noreturn]] void refuse(std::size_t word, const std::string& what) const;

 private:
  std::string name_;  ///< name of the file
  WordLines place_;
  std::vector<std::string> lines_;
  std::vector<std::size_t> word_lines_;  ///< indices in `lines_`
};

/// Adds a probability to a field MISC as Prob, or replaces an existing Prob.
std::string with_probability(const std::string& misc, float probability);

/// Reads all sentences. Throws LineError, also from `check`, which may refuse a sentence, and
/// UserError for a file without sentences.
std::vector<Sentence> read(const TextSource& source,
                           const std::function<void(const Sentence&)>& check = {});
}  // namespace conllu

}  // namespace nlp
