#pragma once

#include <array>
#include <boost/serialization/array.hpp>
#include <boost/serialization/version.hpp>
#include <string>
#include <vector>

#include "examples/nlp/annotate/segmenter.h"
#include "examples/nlp/annotate/treebank.h"
#include "examples/nlp/common/vectors.h"

namespace annotate {

/// Stages of a model, each with its own weights and loss. Vectors of words and the LSTM that reads
/// them are shared by tagger and parser, and belong to neither.
enum class Stage : unsigned { kAll, kSegmenter, kTagger, kParser };

/// Sizes of a model.
struct ModelSettings {
  unsigned word = 100;       ///< size of a word's own vector
  unsigned character = 100;  ///< size of a vector made of a word's letters
  unsigned hidden = 200;     ///< per direction of the LSTM that all outputs share
  unsigned layers = 1;
  unsigned tree_hidden = 200;  ///< per direction of the LSTM of trees
  unsigned tree_layers = 1;
  unsigned mlp = 100;  ///< size of the layer before lemmas
  unsigned arc = 200;  ///< size of head and dependent vectors for arcs
  unsigned label = 80;
  float dropout = 0.4f;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& word& character& hidden& layers& tree_hidden& tree_layers& mlp& arc& label& dropout;
  }
  void check() const;  ///< see nlp::Checked
};

/// Everything of a model except the weights; determines its shape.
struct Description {
  std::string treebank;  ///< name of the training data, for what the model writes
  ModelSettings settings;
  SegmenterDescription segmenter;
  /// Items with a vector; the first is the unknown one.
  std::vector<std::string> words, characters;
  /// Classes of each output, in a fixed order; a treebank without the column has `_` alone.
  std::array<std::vector<std::string>, kOutputs> classes;
  /// Classes of UPOS, XPOS and FEATS that a word of the treebank has together; empty if no word has
  /// all of them.
  std::vector<std::array<unsigned, 3>> tags;
  std::vector<std::string> labels;  ///< of arcs; empty: the treebank has no trees
  bool crossing = false;            ///< true: arcs of a tree may cross

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& treebank& settings& segmenter& words& characters& classes& tags& labels& crossing;
  }
  void check() const;  ///< see nlp::Checked
};

/// Collects all from the training data; the name and the sizes are those of `chosen`. Words with
/// pretrained vectors are known, too, behind those of the data.
Description describe(const Description& chosen, const Treebank& train,
                     const nlp::WordVectors& vectors = {});

/// The description `old` with one stage as in `now`.
Description with_stage(Description old, const Description& now, Stage stage);

}  // namespace annotate
