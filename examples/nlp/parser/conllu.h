#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "examples/nlp/common/conllu.h"

namespace parser {

/// A dependency tree over the words of a sentence, which count from 1; 0 is the root above them.
struct Tree {
  std::vector<unsigned> heads;      ///< of word 1, 2, ...
  std::vector<std::string> labels;  ///< of the arcs from them
  /// Probability of each arc of a parser's tree, if requested; see Model::parse.
  std::vector<float> probabilities = {};

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& heads& labels& probabilities;
  }
};

struct Sentence {
  std::vector<std::string> words;
  std::vector<std::string> tags;  ///< UPOS
  Tree tree;                      ///< empty if it was not read
  nlp::conllu::Sentence rows;     ///< as they were, comments and all
  std::size_t size() const { return words.size(); }
};

using Treebank = std::vector<Sentence>;

/// Whether the trees of a file are read.
enum class Trees {
  kRead,    ///< HEAD and DEPREL must make a tree with one root
  kIgnored  ///< HEAD and DEPREL may hold anything
};

/// Reads CoNLL-U, see nlp::conllu. Throws LineError for what is not of that form, or has a label
/// that is none of these if there are any; UserError if it holds no sentence.
Treebank read_conllu(const nlp::TextSource& source, Trees trees,
                     const std::vector<std::string>& labels = {});
/// The same from lines; `source` says what messages call them.
Treebank parse_conllu(const std::vector<std::string>& lines, const nlp::TextSource& source,
                      Trees trees, const std::vector<std::string>& labels = {});

/// A sentence of CoNLL-U. Throws LineError as above.
Sentence sentence_of(nlp::conllu::Sentence rows, Trees trees,
                     const std::vector<std::string>& labels = {});
/// A sentence that comes from elsewhere, without tags and tree.
Sentence untagged(nlp::conllu::Sentence rows);
/// Gives the words other tags, in the column UPOS too.
void set_tags(Sentence& sentence, std::vector<std::string> tags);

/// The lines of the sentence with HEAD and DEPREL taken from `tree`, all else as it was; and with
/// its probabilities, if it has them, as Prob in MISC.
std::vector<std::string> lines_with(const Sentence& sentence, const Tree& tree);

std::size_t count_words(const Treebank& treebank);

}  // namespace parser
