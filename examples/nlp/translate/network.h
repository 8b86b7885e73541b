#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "examples/nlp/common/names.h"

namespace translate {

using Ids = std::vector<unsigned>;

/// First tokens of every vocabulary: unknown, and the end of a text, which is also the first input.
inline constexpr unsigned kUnknownToken = 0, kEndToken = 1;

/// Inputs of the decoder for each token of a text and for its end: the previous token.
Ids beginnings(const Ids& tokens);

/// Network of a model.
enum class Kind { kLstm, kTransformer };
inline const nlp::Names<Kind> kKinds = {{Kind::kLstm, "lstm"}, {Kind::kTransformer, "transformer"}};

/// Attention scores of the source positions for a state q of the LSTM; M has the source columns.
enum class Attention {
  kDot,      ///< M' q / sqrt(size)
  kGeneral,  ///< M' W q
  kAdditive  ///< v' tanh(U M + W q)
};
inline const nlp::Names<Attention> kAttentions = {
    {Attention::kDot, "dot"}, {Attention::kGeneral, "general"}, {Attention::kAdditive, "additive"}};

/// Sizes and kind of a network.
struct NetworkSettings {
  Kind kind = Kind::kLstm;
  Attention attention = Attention::kGeneral;  ///< for an LSTM
  unsigned size = 128;                        ///< of vectors and states
  unsigned layers = 1;                        ///< of the encoder and of the decoder
  unsigned heads = 4;                         ///< for a transformer
  unsigned feed_forward = 512;                ///< inner size of feed-forward layers
  float dropout = 0.3f;
  bool copy = false;  ///< copy mechanism of an LSTM

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& kind& attention& size& layers& heads& feed_forward& dropout& copy;
  }
  void check() const;  ///< see nlp::Checked
};

/// Settings of beam search.
struct SearchSettings {
  std::size_t beam = 5;
  std::size_t n = 1;  ///< translations per text
  double alpha = 1;   ///< the log-probability is divided by length^alpha
};

/// A text to translate.
struct Source {
  Ids tokens;                     ///< in the source vocabulary
  dynet::ExtendedSource to_copy;  ///< in the target vocabulary, if tokens may be copied
};

/// Bidirectional LSTM encoder and LSTM decoder with attention; the attention output is part of the
/// next input (Luong, Pham, Manning, EMNLP 2015, section 3.3). A copy shares the weights.
class LstmNetwork {
 public:
  LstmNetwork(const NetworkSettings& settings, unsigned source_tokens, unsigned target_tokens,
              dynet::ParameterCollection& parameters);

  struct Memory {
    dynet::Expression columns, keys;  ///< {size,T}; keys for the scores
  };
  struct State {
    Memory memory;
    std::shared_ptr<const Source> source;
    dynet::RNNPointer at;
    dynet::Expression seen;                 ///< attention output, for the next step
    std::vector<dynet::Expression> looked;  ///< weights {T} of the source tokens, by step
  };

  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// State before the first token of a translation.
  State start(const Source& source);
  /// Log-probabilities of the token after `last`: of the vocabulary, then of tokens that can only
  /// be copied.
  dynet::Expression step(State& state, unsigned last);
  /// Scores {V,T+1} of the vocabulary after reading T+1 tokens.
  dynet::Expression scores(const Source& source, const Ids& read);
  /// Negative log-likelihood of a translation, with label smoothing unless tokens may be copied.
  /// `read` are the inputs of the decoder.
  dynet::Expression loss(const Source& source, const Ids& target, float smoothing, const Ids& read);

 private:
  struct Steps {
    dynet::Expression seen, fits;  ///< {size,T+1}, and attention scores by source position
  };
  Steps steps(const Source& source, const Ids& read);
  /// Makes a step; returns the attention scores of the source positions.
  dynet::Expression advance(State& state, unsigned last);
  dynet::Expression fits(const Memory& memory, const dynet::Expression& query) const;
  dynet::Expression dropped(const dynet::Expression& x) const;

  NetworkSettings settings_;
  unsigned target_tokens_ = 0;
  dynet::LookupParameter source_table_, target_table_;
  std::vector<dynet::BiRNNBuilder<dynet::VanillaLSTMBuilder>> encoder_;  // a single element
  dynet::VanillaLSTMBuilder decoder_;
  dynet::Linear memory_, first_, query_, key_, weigh_, combine_, output_;
  dynet::CopyGate gate_;
  // State of the current graph.
  dynet::ComputationGraph* graph_ = nullptr;
  bool training_ = false;
};

/// Transformer encoder and decoder (Vaswani et al. 2017) with pre-normalization. A copy shares the
/// weights.
class TransformerNetwork {
 public:
  TransformerNetwork(const NetworkSettings& settings, unsigned source_tokens,
                     unsigned target_tokens, dynet::ParameterCollection& parameters);

  using State = dynet::DecoderCache;

  void begin_graph(dynet::ComputationGraph& graph, bool training);
  State start(const Source& source);
  dynet::Expression step(State& state, unsigned last);
  dynet::Expression scores(const Source& source, const Ids& read);
  dynet::Expression loss(const Source& source, const Ids& target, float smoothing, const Ids& read);

 private:
  dynet::Expression placed(const dynet::Expression& x, unsigned first) const;

  NetworkSettings settings_;
  dynet::Embedding source_table_, target_table_;
  dynet::TransformerEncoder encoder_;
  dynet::TransformerDecoder decoder_;
  // State of the current graph.
  dynet::ComputationGraph* graph_ = nullptr;
  bool training_ = false;
};

}  // namespace translate
