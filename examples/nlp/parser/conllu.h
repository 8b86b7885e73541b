#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "examples/nlp/common/conllu.h"

namespace parser {

/// Dependency tree over the words of a sentence, numbered from 1; 0 is the root.
struct Tree {
  std::vector<unsigned> heads;      ///< heads of word 1, 2, ...
  std::vector<std::string> labels;  ///< labels of the arcs to the words
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
  Tree tree;                      ///< empty with Trees::kIgnored
  nlp::conllu::Sentence rows;     ///< the original lines
  std::size_t size() const { return words.size(); }
};

using Treebank = std::vector<Sentence>;

/// Whether to read the trees of a file.
enum class Trees {
  kRead,    ///< HEAD and DEPREL must form a tree with one root
  kIgnored  ///< HEAD and DEPREL are not checked
};

/// Reads CoNLL-U, see nlp::conllu. Throws LineError for malformed lines and, if `labels` is not
/// empty, for a label outside it; UserError for a file without sentences.
Treebank read_conllu(const nlp::TextSource& source, Trees trees,
                     const std::vector<std::string>& labels = {});
/// Parses lines; `source` is their name in messages.
Treebank parse_conllu(const std::vector<std::string>& lines, const nlp::TextSource& source,
                      Trees trees, const std::vector<std::string>& labels = {});

/// Parses a sentence of CoNLL-U. Throws LineError like read_conllu.
Sentence sentence_of(nlp::conllu::Sentence rows, Trees trees,
                     const std::vector<std::string>& labels = {});
/// A sentence from other input, without tags and tree.
Sentence untagged(nlp::conllu::Sentence rows);
/// Replaces the tags of the words, including the column UPOS.
void set_tags(Sentence& sentence, std::vector<std::string> tags);

/// Lines of the sentence with HEAD and DEPREL of `tree`, and its probabilities, if any, as Prob in
/// MISC; everything else is unchanged.
std::vector<std::string> lines_with(const Sentence& sentence, const Tree& tree);

std::size_t count_words(const Treebank& treebank);

}  // namespace parser
