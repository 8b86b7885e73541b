#pragma once

#include <boost/serialization/version.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "examples/nlp/parser/evaluate.h"
#include "examples/nlp/parser/transitions.h"

namespace parser {

/// The shape of a model.
struct ModelSettings {
  unsigned word = 100;    ///< size of a word's vector
  unsigned tag = 25;      ///< of a tag's
  unsigned hidden = 125;  ///< of the LSTMs, in each direction
  unsigned layers = 2;
  unsigned mlp = 100;  ///< size of the tanh layer before the moves
  float dropout = 0.3f;
  bool graph = false;      ///< scores all arcs of a sentence, not moves
  bool crossing = false;   ///< of such trees: those whose arcs cross, too
  unsigned arc = 200;      ///< size of what decides about an arc, for each of its ends
  unsigned label = 60;     ///< of what decides about its label
  unsigned character = 0;  ///< size of a vector made of a word's characters, 0 for none

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    archive& word& tag& hidden& layers& mlp& dropout;
    if (version > 0) archive& graph& crossing& arc& label;
    if (version > 1) archive& character;
  }
  void check() const;  ///< see nlp::Checked
};

/// All of a model but its weights: enough to make a model of the same shape.
struct Description {
  ModelSettings settings;
  /// That have a vector; the first stands for all others.
  std::vector<std::string> words, tags, characters;
  std::vector<std::string> labels;
  Baseline baseline;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    archive& settings& words& tags& labels& baseline;
    if (version > 0) archive& characters;
  }
  void check() const;  ///< see nlp::Checked
};

/// Which labels arcs may have: `root` those from the root and no others, as Universal Dependencies
/// have it; any if the model does not know that label, or no other one.
class LabelRule {
 public:
  explicit LabelRule(const std::vector<std::string>& labels) {
    for (std::size_t i = 0; i < labels.size() && labels.size() > 1; ++i)
      if (labels[i] == "root") root_ = i;
  }
  bool allows(std::size_t label, unsigned head) const {
    return root_ == kUnknown || (label == root_) == (head == 0);
  }

 private:
  static constexpr std::size_t kUnknown = ~std::size_t{0};
  std::size_t root_ = kUnknown;
};

/// A sentence as numbers.
struct Encoded {
  std::vector<unsigned> words, tags;
  std::vector<std::vector<unsigned>> characters;  ///< of each word, if the model reads them
  std::size_t size() const { return words.size(); }
};

/// Training target from the tree of a sentence.
struct Target {
  std::vector<Move> moves;              ///< for a model that scores moves
  std::vector<unsigned> heads, labels;  ///< of the words, for one that scores arcs
};

/// A tree that was found, with numbers for labels.
struct Arcs {
  std::vector<unsigned> heads, labels;
  std::vector<float> probabilities;  ///< of the arcs, if they were asked for
};

}  // namespace parser

BOOST_CLASS_VERSION(parser::ModelSettings, 2)
BOOST_CLASS_VERSION(parser::Description, 1)
