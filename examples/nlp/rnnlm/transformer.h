#pragma once

#include "dynet-like/dynet.h"
#include "examples/nlp/common/names.h"

namespace rnnlm {

/// Position encoding.
enum class Positions {
  kSinusoidal,  ///< sines and cosines, added to the vectors
  kLearned,     ///< trained vectors, added to the vectors
  kRotary       ///< rotations of queries and keys
};
inline const nlp::Names<Positions> kPositions = {{Positions::kSinusoidal, "sinusoidal"},
                                                 {Positions::kLearned, "learned"},
                                                 {Positions::kRotary, "rotary"}};

/// Settings of a transformer without a counterpart in an LSTM.
struct TransformerShape {
  unsigned heads = 4;            ///< attention heads; must divide the vector size
  unsigned feed_forward = 1024;  ///< inner size of feed-forward layers
  Positions positions = Positions::kRotary;
  unsigned context = 256;  ///< tokens per piece of a sentence

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& heads& feed_forward& positions& context;
  }
  void check() const;  ///< see nlp::Checked
};

/// Decoder-only transformer (Vaswani et al. 2017) with pre-normalization (Xiong et al. 2020), over
/// vectors scaled by the square root of their size. A sentence is read in independent pieces of
/// `context` tokens, each starting at position 0. A copy shares the weights.
class Transformer {
 public:
  Transformer(const TransformerShape& shape, unsigned layers, unsigned size,
              dynet::ParameterCollection& parameters);
  /// Empty, to be assigned to.
  Transformer() = default;

  /// Adds the parameters to an empty graph. Dropout applies to the vectors and in the layers.
  void new_graph(dynet::ComputationGraph& graph, float dropout);
  /// Starts a new piece with the next vector.
  void start() { cache_ = decoder_.start(); }
  /// Free positions of the current piece; a full piece is followed by a new one.
  unsigned room() const;
  /// Outputs {size} for one more vector {size}, or {size,n} for n of them, which must fit in the
  /// piece, with the batch of the vectors. Keys and values of earlier vectors are cached.
  dynet::Expression read(const dynet::Expression& vectors);

 private:
  TransformerShape shape_;
  unsigned size_ = 0;
  dynet::LearnedPositions learned_;
  dynet::TransformerDecoder decoder_;
  // State of the current graph.
  dynet::ComputationGraph* graph_ = nullptr;
  dynet::DecoderCache cache_;
  float dropout_ = 0;
};

}  // namespace rnnlm
