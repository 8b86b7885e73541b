#pragma once

#include <cstddef>
#include <map>
#include <ostream>
#include <string>

#include "examples/nlp/common/label_scores.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/parser/conllu.h"

namespace parser {

/// The trivial parser: the head stands where the heads of words with this tag stood most often in
/// training (so many words before or behind), with the label that was then the most frequent one.
/// The result need not be a tree.
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
    long distance = 0;  ///< from the word to its head, 0 for the root
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

/// How many words have the right head (UAS), and with it the right label (LAS).
struct Scores {
  nlp::Ratio heads, arcs;
  nlp::Ratio heads_of_words, arcs_of_words;  ///< without words tagged PUNCT
  void add(const Sentence& sentence, const Tree& tree);
};

/// A treebank scored with the model and with the trivial parser.
struct Report {
  std::string name;
  std::size_t sentences = 0;
  Scores model;
  Scores baseline;
  nlp::LabelScores labels{"arcs"};  ///< of the model; right are those with the right head

  void add(const Sentence& sentence, const Tree& tree, const Baseline& trivial);
  nlp::Figures figures() const;
  nlp::Counts counts() const;
  const nlp::LabelScores& label_scores() const { return labels; }
  const nlp::LabelScores& confusion() const { return labels; }
  /// A few lines with both side by side.
  void print(std::ostream& out) const;
};

}  // namespace parser
