#pragma once

#include <array>
#include <boost/serialization/array.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "examples/nlp/annotate/text.h"
#include "examples/nlp/common/conllu.h"

namespace annotate {

/// Columns of CoNLL-U that are predicted of each word alone. The classes of the last are rules that
/// make the lemma of the form, see edit_script.
enum Output : std::size_t { kUpos, kXpos, kFeats, kLemma, kOutputs };

/// Column of a file.
inline constexpr std::array<nlp::conllu::Column, kOutputs> kColumns = {
    nlp::conllu::kUpos, nlp::conllu::kXpos, nlp::conllu::kFeats, nlp::conllu::kLemma};

/// A sentence with what a file says of its words.
struct Sentence {
  std::vector<std::string> words;
  std::array<std::vector<std::string>, kOutputs> columns;  ///< by word; `_` where there is none
  std::vector<unsigned> heads;                             ///< empty if HEAD is `_`
  std::vector<std::string> labels;
  std::size_t size() const { return words.size(); }

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& words& columns& heads& labels;
  }
};

/// A file with its text. Sentence number i of the file is number `places[i].sentence` of a
/// paragraph.
struct Treebank {
  struct Place {
    std::size_t paragraph, sentence;
  };
  std::vector<nlp::conllu::Sentence> rows;
  std::vector<Sentence> sentences;
  std::vector<Paragraph> paragraphs;
  std::vector<Place> places;

  bool empty() const { return sentences.empty(); }
  auto begin() const { return sentences.begin(); }
  auto end() const { return sentences.end(); }
  std::size_t words() const;
};

/// A sentence of CoNLL-U. Throws LineError as `read_treebank` does.
Sentence sentence_of(const nlp::conllu::Sentence& rows);

/// Reads CoNLL-U. Columns may be `_`, also HEAD and DEPREL of all words of a sentence. Throws
/// LineError for malformed lines and for heads that form no tree with one root; UserError for a
/// file without sentences.
Treebank read_treebank(const nlp::TextSource& source);

}  // namespace annotate
