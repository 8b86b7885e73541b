#pragma once

#include <boost/serialization/version.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "corpus.h"
#include "dynet-like/dynet.h"
#include "examples/nlp/common/model.h"
#include "examples/nlp/common/names.h"
#include "examples/nlp/common/random.h"
#include "examples/nlp/common/split.h"
#include "ngram.h"
#include "transformer.h"

namespace rnnlm {

/// Training loss. Evaluation always uses the full softmax.
enum class Loss {
  kFull,
  kSampled,  ///< the correct token against a random sample
};
inline const nlp::Names<Loss> kLosses = {{Loss::kFull, "full"}, {Loss::kSampled, "sampled"}};

/// Proposal distribution q(k) = log((k + 2) / (k + 1)) / log(n + 1), k = 0 ... n - 1: approximates
/// the frequencies of words sorted by descending frequency (Zipf).
class LogUniform {
 public:
  explicit LogUniform(unsigned n);
  unsigned draw(nlp::Random& random) const;
  double log_probability(unsigned k) const;

 private:
  unsigned n_;
  double log_range_;
};

/// Output layer of a language model: scores of all tokens, W h + b, for a hidden state h {hidden},
/// and negative log-probabilities.
///
/// The sampled loss draws m tokens from a proposal q, once per minibatch. It is the loss of a
/// softmax over the correct token, with its score, and the drawn tokens, with scores minus log(m
/// q(k)): the sum of their exponentials is an unbiased estimate of that over all wrong tokens
/// (Bengio and Senecal 2008; Jean, Cho, Memisevic and Bengio 2015; in this form Blanc and Rendle
/// 2018). Draws of the correct token are ignored. Only the drawn rows of W are used, so W and b are
/// lookup parameters in this case.
class Softmax {
 public:
  Softmax(Loss loss, unsigned hidden, unsigned tokens, dynet::ParameterCollection& parameters);

  /// Adds nodes to this graph from now on.
  void new_graph(dynet::ComputationGraph& graph);
  /// {tokens}, with the batch of h.
  dynet::Expression scores(const dynet::Expression& h);
  /// Negative log-probabilities {1}, of one target per batch element of h.
  dynet::Expression losses(const dynet::Expression& h, const std::vector<unsigned>& targets);
  dynet::Expression sampled_losses(const dynet::Expression& h, const std::vector<unsigned>& targets,
                                   unsigned samples, nlp::Random& random);

 private:
  unsigned hidden_, tokens_;
  LogUniform proposal_;
  Loss loss_;
  dynet::Parameter weight_, bias_;
  dynet::LookupParameter weight_rows_, bias_rows_;
  // State of the current graph.
  dynet::ComputationGraph* graph_ = nullptr;
  bool ready_ = false;
  dynet::Expression weight_node_, bias_node_;
};

/// Network that encodes the tokens.
enum class Network { kLstm, kTransformer };
inline const nlp::Names<Network> kNetworks = {{Network::kLstm, "lstm"},
                                              {Network::kTransformer, "transformer"}};

inline constexpr unsigned kMostSamples = 65536;  ///< in the sampled loss

/// Sizes and kind of a model.
struct ModelSettings {
  unsigned word = 256;    ///< size of a token vector
  unsigned hidden = 256;  ///< size of the network's outputs, and of its inputs in a transformer
  unsigned layers = 1;
  float dropout = 0.3f;  ///< of the inputs of each layer, and of the output
  Loss loss = Loss::kFull;
  unsigned samples = 512;  ///< samples of the sampled loss, per minibatch
  Network network = Network::kLstm;
  TransformerShape transformer;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    archive& word& hidden& layers& dropout& loss& samples;
    if (version > 0) archive& network& transformer;  // version 0: an LSTM
  }
  void check() const;  ///< see nlp::Checked
};

/// Format of the training data, reused for other data.
struct DataSettings {
  ReadOptions read;
  nlp::Split split;
  unsigned min_count = 2;  ///< tokens with fewer occurrences in training are unknown
  unsigned ngram = 3;      ///< order of the n-gram baseline, 0 for none

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& read& split& min_count& ngram;
  }
  void check() const;  ///< see nlp::Checked
};

/// Everything of a model except the weights; determines its shape.
struct Description {
  DataSettings data;
  ModelSettings settings;
  std::vector<std::string> tokens;
  Ngram ngram;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& data& settings& tokens& ngram;
  }
  void check() const;  ///< see nlp::Checked
};

/// Collects the vocabulary and the n-grams.
Description describe(const DataSettings& data, const ModelSettings& settings, const Corpus& train);

/// State of an LSTM for a minibatch, to continue in another graph.
struct Memory {
  unsigned batch = 0;
  std::vector<std::vector<float>> parts;  ///< empty for the start of a sentence
};

/// Language model: vectors of previous tokens, an LSTM or a transformer, and a softmax over all
/// tokens. Sentences are independent.
class Model : public nlp::DescribedModel<Description> {
 public:
  static constexpr const char* kProgram = "rnnlm";  ///< program name in its files
  static constexpr const char* kUse = "score";      ///< command that a new model is for

  Model(Description description, const nlp::Start& start);

  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// Declares the parameters in an empty graph; training applies dropout.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Continues sentences from `memory`; an empty memory means their start.
  void begin_sentences(const Memory& memory = {});
  /// Number of steps per graph: `most` for an LSTM, whose state continues in the next graph, or
  /// whole pieces for a transformer, whose pieces are independent.
  std::size_t steps_together(std::size_t most) const;
  /// Makes one step: the outputs {hidden} after these tokens, one per sentence.
  dynet::Expression step(const std::vector<unsigned>& tokens);
  /// Scores {tokens} of the next token.
  dynet::Expression scores(const dynet::Expression& output) { return softmax_.scores(output); }
  /// Negative log-probability {1} of each target of the steps [begin, end), step by step; 0 for
  /// padding. With `random` the training loss, sampled if the settings say so.
  dynet::Expression losses(const Minibatch& batch, std::size_t begin, std::size_t end,
                           nlp::Random* random = nullptr);
  /// State after the last step, to be called after computing its graph.
  Memory memory() const;

 private:
  bool is_lstm() const { return description_.settings.network == Network::kLstm; }
  dynet::Expression dropped(const dynet::Expression& output) const;
  /// Outputs {hidden} of each sentence and step, step by step.
  dynet::Expression outputs(const Minibatch& batch, std::size_t begin, std::size_t end);
  /// `outputs` for steps that fit into the current piece of the transformer.
  dynet::Expression outputs_of_piece(const Minibatch& batch, std::size_t begin, std::size_t end);

  Vocabulary vocabulary_;
  dynet::LookupParameter table_;
  dynet::LSTMBuilder lstm_;  // unused for a transformer
  Transformer transformer_;
  Softmax softmax_;
  // State of the current graph.
  dynet::ComputationGraph* graph_ = nullptr;
  bool training_ = false;
};

}  // namespace rnnlm

BOOST_CLASS_VERSION(rnnlm::ModelSettings, 1)
