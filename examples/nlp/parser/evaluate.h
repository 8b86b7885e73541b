#pragma once

#include <cstddef>
#include <map>
#include <ostream>
#include <string>

#include "examples/nlp/common/label_scores.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/parser/conllu.h"

namespace parser {

/// The trivial parser: assigns to each word the most frequent head offset in training of words with
/// its tag, and the most frequent label of such arcs. The result need not be a tree.
class Baseline {
 public:
  Baseline() = default;
  explicit Baseline(const Treebank& train);
  Tree parse(const Sentence& sentence) const;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& arcs_;
  }
  void check() const;  ///< see nlp::Checked

 private:
  struct Arc {
    long distance = 0;  ///< offset from the word to its head, 0 for the root
    std::string label;
    bool operator<(const Arc& other) const {
      return distance != other.distance ? distance < other.distance : label < other.label;
    }

    template <typename Archive>
    void serialize(Archive& archive, unsigned int /*version*/) {
      archive& distance& label;
    }
  };

  std::map<std::string, Arc> arcs_;  ///< by tag
};

/// Words with the correct head (UAS), and with the correct head and label (LAS).
struct Scores {
  nlp::Ratio heads, arcs;
  nlp::Ratio heads_of_words, arcs_of_words;  ///< without PUNCT
  void add(const Sentence& sentence, const Tree& tree);
};

/// Scores of a treebank for the model and the trivial parser.
struct Report {
  std::string name;
  std::size_t sentences = 0;
  Scores model;
  Scores baseline;
  nlp::LabelScores labels{"arcs"};  ///< of the model; correct arcs have the correct head

  void add(const Sentence& sentence, const Tree& tree, const Baseline& trivial);
  nlp::Figures figures() const;
  nlp::Counts counts() const;
  const nlp::LabelScores& label_scores() const { return labels; }
  const nlp::LabelScores& confusion() const { return labels; }
  /// Prints both side by side in a few lines.
  void print(std::ostream& out) const;
};

}  // namespace parser
