#pragma once

#include "dynet-like/dynet.h"
#include "examples/nlp/common/names.h"

namespace rnnlm {

/// Encoding of the positions of tokens.
enum class Positions {
  kSinusoidal,  ///< sines and cosines that are added to vectors
  kLearned,     ///< trained vectors that are added
  kRotary       ///< queries and keys are turned
};
inline const nlp::Names<Positions> kPositions = {{Positions::kSinusoidal, "sinusoidal"},
                                                 {Positions::kLearned, "learned"},
                                                 {Positions::kRotary, "rotary"}};

/// The shape of a transformer, as far as an LSTM has nothing like it.
struct TransformerShape {
  unsigned heads = 4;            ///< of attention, a divisor of the size of vectors
  unsigned feed_forward = 1024;  ///< inner size of the feed-forward layers
  Positions positions = Positions::kRotary;
  unsigned context = 256;  ///< tokens of a piece of a sentence

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& heads& feed_forward& positions& context;
  }
  void check() const;  ///< see nlp::Checked
};

/// Causal layers of attention (Vaswani et al. 2017), norms first (Xiong et al. 2020), over vectors
/// that are scaled by the root of their size. A sentence is read in pieces of `context` tokens,
/// each of which starts again at position 0 and sees nothing of those before. A copy shares the
/// weights.
class Transformer {
 public:
  Transformer(const TransformerShape& shape, unsigned layers, unsigned size,
              dynet::ParameterCollection& parameters);
  /// Without parameters, to be assigned to.
  Transformer() = default;

  /// Puts the parameters into an empty graph. Drops out of the vectors and in the layers.
  void new_graph(dynet::ComputationGraph& graph, float dropout);
  /// The next vector starts a piece.
  void start() { cache_ = decoder_.start(); }
  /// Vectors that the piece has room for; a full one makes way for the next.
  unsigned room() const;
  /// Outputs {size} for one vector more {size} or {size,n} for several, which must have room, with
  /// the batch of the vectors. Keys and values of those before are kept, not computed again.
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
