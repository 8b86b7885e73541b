#pragma once

#include <vector>

#include "dynet-like/dynet.h"
#include "examples/nlp/common/characters.h"
#include "examples/nlp/parser/settings.h"

namespace parser {

/// Encoder outputs for the root and the words of a sentence, by number.
using Vectors = std::vector<dynet::Expression>;

/// Encodes sentences: vectors of words, tags and optionally characters, then layers of
/// bidirectional LSTMs.
class Encoder {
 public:
  Encoder(const Description& description, dynet::ParameterCollection& parameters);

  /// Declares the parameters in an empty graph.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  Vectors read(const Encoded& sentence);

 private:
  float dropout_;
  dynet::LookupParameter words_, tags_;
  bool reads_characters_;
  nlp::CharacterEncoder characters_;
  std::vector<dynet::LSTMBuilder> lstms_;  ///< by layer, one per direction
  dynet::Parameter root_;
  // State of the current graph.
  dynet::ComputationGraph* graph_ = nullptr;
  bool training_ = false;
  dynet::Expression root_node_;
};

/// Dropout in training, otherwise x.
inline dynet::Expression dropped(const dynet::Expression& x, float rate, bool training) {
  return training && rate > 0 ? dropout(x, rate) : x;
}

}  // namespace parser
