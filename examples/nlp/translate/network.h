#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "examples/nlp/common/names.h"

namespace translate {

using Ids = std::vector<unsigned>;

/// The first tokens of every vocabulary: unknown, and the end of a text, which also begins it.
inline constexpr unsigned kUnknownToken = 0, kEndToken = 1;

/// Network inputs for each token of a text, and for its end: the token before.
Ids beginnings(const Ids& tokens);

/// Network of a model.
enum class Kind { kLstm, kTransformer };
inline const nlp::Names<Kind> kKinds = {{Kind::kLstm, "lstm"}, {Kind::kTransformer, "transformer"}};

/// How well a place of the source fits a state q of the LSTM; M are the columns that it read.
enum class Attention {
  kDot,      ///< M' q / sqrt(size)
  kGeneral,  ///< M' W q
  kAdditive  ///< v' tanh(U M + W q)
};
inline const nlp::Names<Attention> kAttentions = {
    {Attention::kDot, "dot"}, {Attention::kGeneral, "general"}, {Attention::kAdditive, "additive"}};

/// The shape of a network.
struct NetworkSettings {
  Kind kind = Kind::kLstm;
  Attention attention = Attention::kGeneral;  ///< of an LSTM
  unsigned size = 128;                        ///< of vectors and states
  unsigned layers = 1;                        ///< of encoder and decoder each
  unsigned heads = 4;                         ///< of a transformer
  unsigned feed_forward = 512;                ///< size of its feed-forward layers
  float dropout = 0.3f;
  bool copy = false;  ///< an LSTM may copy tokens of the source

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& kind& attention& size& layers& heads& feed_forward& dropout& copy;
  }
  void check() const;  ///< see nlp::Checked
};

/// How translations are looked for.
struct SearchSettings {
  std::size_t beam = 5;
  std::size_t n = 1;  ///< translations of a text
  double alpha = 1;   ///< the log-probability is divided by length^alpha
};

/// A text that is to be translated.
struct Source {
  Ids tokens;                     ///< in the source's vocabulary
  dynet::ExtendedSource to_copy;  ///< in the target's, if it may be copied
};

/// Bidirectional LSTMs read, an LSTM writes and looks at what was read; what it saw is part of its
/// next input (Luong, Pham, Manning, EMNLP 2015, section 3.3). A copy shares the weights.
class LstmNetwork {
 public:
  LstmNetwork(const NetworkSettings& settings, unsigned source_tokens, unsigned target_tokens,
              dynet::ParameterCollection& parameters);

  struct Memory {
    dynet::Expression columns, keys;  ///< {size,T}; what scores are made of
  };
  struct State {
    Memory memory;
    std::shared_ptr<const Source> source;
    dynet::RNNPointer at;
    dynet::Expression seen;                 ///< goes into the next step
    std::vector<dynet::Expression> looked;  ///< weights {T} of the source's tokens, by step
  };

  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Before the first token of a translation.
  State start(const Source& source);
  /// The log-probabilities of what may follow `last`: of the vocabulary's tokens, then of those
  /// that can be copied alone.
  dynet::Expression step(State& state, unsigned last);
  /// Scores {V,T+1} of the vocabulary's tokens, where T+1 tokens were read.
  dynet::Expression scores(const Source& source, const Ids& read);
  /// Minus the log-likelihood of a translation, of which `smoothing` goes to all tokens alike;
  /// nothing does where tokens may be copied. `read` are its beginnings, or what stands for them.
  dynet::Expression loss(const Source& source, const Ids& target, float smoothing, const Ids& read);

 private:
  struct Steps {
    dynet::Expression seen, fits;  ///< {size,T+1}, and of each place of the source
  };
  Steps steps(const Source& source, const Ids& read);
  /// Returns how well each place of the source fits.
  dynet::Expression advance(State& state, unsigned last);
  dynet::Expression fits(const Memory& memory, const dynet::Expression& query) const;
  dynet::Expression dropped(const dynet::Expression& x) const;

  NetworkSettings settings_;
  unsigned target_tokens_ = 0;
  dynet::LookupParameter source_table_, target_table_;
  std::vector<dynet::BiRNNBuilder<dynet::VanillaLSTMBuilder>> encoder_;  // one
  dynet::VanillaLSTMBuilder decoder_;
  dynet::Linear memory_, first_, query_, key_, weigh_, combine_, output_;
  dynet::CopyGate gate_;
  // State of the current graph.
  dynet::ComputationGraph* graph_ = nullptr;
  bool training_ = false;
};

/// Encoder and decoder of attention alone (Vaswani et al. 2017), norms first. A copy shares the
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
