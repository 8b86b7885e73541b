#pragma once

#include <boost/serialization/version.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "examples/nlp/parser/evaluate.h"
#include "examples/nlp/parser/transitions.h"

namespace parser {

/// Sizes and kind of a model.
struct ModelSettings {
  unsigned word = 100;    ///< size of a word vector
  unsigned tag = 25;      ///< size of a tag vector
  unsigned hidden = 125;  ///< per direction of the LSTMs
  unsigned layers = 2;
  unsigned mlp = 100;  ///< size of the tanh layer before the moves
  float dropout = 0.3f;
  bool graph = false;      ///< arc scorer instead of move scorer
  bool crossing = false;   ///< arc scorer: allows non-projective trees
  unsigned arc = 200;      ///< size of head and dependent vectors for arcs
  unsigned label = 60;     ///< size of head and dependent vectors for labels
  unsigned character = 0;  ///< size of a character-based word vector, 0 for none

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    archive& word& tag& hidden& layers& mlp& dropout;
    if (version > 0) archive& graph& crossing& arc& label;
    if (version > 1) archive& character;
  }
  void check() const;  ///< see nlp::Checked
};

/// Everything of a model except the weights; determines its shape.
struct Description {
  ModelSettings settings;
  /// Items with a vector; the first is the unknown one.
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

/// Allowed labels of arcs: as in Universal Dependencies, `root` for arcs from the root only. Any
/// label if the model has no `root`, or no other label.
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

/// Encoded sentence.
struct Encoded {
  std::vector<unsigned> words, tags;
  std::vector<std::vector<unsigned>> characters;  ///< by word, if the model reads characters
  std::size_t size() const { return words.size(); }
};

/// Training target of a sentence.
struct Target {
  std::vector<Move> moves;              ///< for the move scorer
  std::vector<unsigned> heads, labels;  ///< by word, for the arc scorer
};

/// Predicted tree with labels as numbers.
struct Arcs {
  std::vector<unsigned> heads, labels;
  std::vector<float> probabilities;  ///< of the arcs, if requested
};

}  // namespace parser

BOOST_CLASS_VERSION(parser::ModelSettings, 2)
BOOST_CLASS_VERSION(parser::Description, 1)
