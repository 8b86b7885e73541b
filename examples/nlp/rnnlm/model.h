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

/// How the loss of training is computed. Evaluation always uses the full softmax.
enum class Loss {
  kFull,
  kSampled,  ///< the right token against a random few
};
inline const nlp::Names<Loss> kLosses = {{Loss::kFull, "full"}, {Loss::kSampled, "sampled"}};

/// Draws tokens with probability q(k) = log((k + 2) / (k + 1)) / log(n + 1), k = 0 ... n - 1: about
/// the frequencies of words when they are numbered from the most to the least frequent (Zipf).
class LogUniform {
 public:
  explicit LogUniform(unsigned n);
  unsigned draw(nlp::Random& random) const;
  double log_probability(unsigned k) const;

 private:
  unsigned n_;
  double log_range_;
};

/// The last layer of a language model: scores of all tokens from a hidden state h {hidden}, W h +
/// b, and minus log-probabilities of the right ones.
///
/// The sampled loss draws m tokens from a proposal q, once for all tokens of the minibatch, and is
/// the loss of a softmax over the right token, with its score, and the tokens drawn, with scores of
/// which log(m q(k)) is taken: their exponentials then add up, in the mean, to those of all wrong
/// tokens (Bengio and Senecal 2008; Jean, Cho, Memisevic and Bengio 2015; in this form Blanc and
/// Rendle 2018). Draws of the right token do not count. Only the rows of W that were drawn are
/// touched, so W and b are lookup parameters then.
class Softmax {
 public:
  Softmax(Loss loss, unsigned hidden, unsigned tokens, dynet::ParameterCollection& parameters);

  /// From now on the functions below add to this graph.
  void new_graph(dynet::ComputationGraph& graph);
  /// {tokens}, with the batch of h.
  dynet::Expression scores(const dynet::Expression& h);
  /// Minus log-probabilities, {1}, of one target for each batch element of h.
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

/// Network that reads the tokens.
enum class Network { kLstm, kTransformer };
inline const nlp::Names<Network> kNetworks = {{Network::kLstm, "lstm"},
                                              {Network::kTransformer, "transformer"}};

inline constexpr unsigned kMostSamples = 65536;  ///< of a sampled loss

/// The sizes of a model.
struct ModelSettings {
  unsigned word = 256;    ///< size of a token's vector
  unsigned hidden = 256;  ///< size of the network's outputs, and of its inputs in a transformer
  unsigned layers = 1;
  float dropout = 0.3f;  ///< of what goes into each layer and comes out of the last
  Loss loss = Loss::kFull;
  unsigned samples = 512;  ///< of the sampled loss, for each minibatch
  Network network = Network::kLstm;
  TransformerShape transformer;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    archive& word& hidden& layers& dropout& loss& samples;
    if (version > 0) archive& network& transformer;  // before, an LSTM
  }
  void check() const;  ///< see nlp::Checked
};

/// How the training data were read, so that others are read alike.
struct DataSettings {
  ReadOptions read;
  nlp::Split split;
  unsigned min_count = 2;  ///< tokens that training has less often are unknown
  unsigned ngram = 3;      ///< order of the n-gram model to compare with, 0 for none

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& read& split& min_count& ngram;
  }
  void check() const;  ///< see nlp::Checked
};

/// All of a model but its weights: enough to make a model of the same shape.
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

/// State of an LSTM for a minibatch, so that one graph can continue where another ended.
struct Memory {
  unsigned batch = 0;
  std::vector<std::vector<float>> parts;  ///< empty at the start of a sentence
};

/// The language model: the vector of the token before, an LSTM or a transformer, and a softmax over
/// all tokens. Sentences are independent of each other.
class Model : public nlp::DescribedModel<Description> {
 public:
  static constexpr const char* kProgram = "rnnlm";  ///< whose files it is saved in

  Model(Description description, const nlp::Start& start);

  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// Declares the parameters in an empty graph. Training drops out.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Continues sentences from `memory`; an empty memory is their start.
  void begin_sentences(const Memory& memory = {});
  /// Steps of a sentence that one graph has: as many for an LSTM, whose memory goes on to the next
  /// one, and the pieces of a transformer, between which there is none.
  std::size_t steps_together(std::size_t most) const;
  /// One step: the outputs {hidden} after these tokens, one of each sentence.
  dynet::Expression step(const std::vector<unsigned>& tokens);
  /// Scores {tokens} of what comes next.
  dynet::Expression scores(const dynet::Expression& output) { return softmax_.scores(output); }
  /// Minus the log-probability, {1}, of each target of the steps [begin, end), step by step: 0 for
  /// padding. With `random` the loss of training, sampled if the settings say so.
  dynet::Expression losses(const Minibatch& batch, std::size_t begin, std::size_t end,
                           nlp::Random* random = nullptr);
  /// State after the last step, once its graph is computed.
  Memory memory() const;

 private:
  bool is_lstm() const { return description_.settings.network == Network::kLstm; }
  dynet::Expression dropped(const dynet::Expression& output) const;
  /// {hidden} for each sentence of each step, step by step.
  dynet::Expression outputs(const Minibatch& batch, std::size_t begin, std::size_t end);
  /// The same for steps that the transformer's piece has room for.
  dynet::Expression outputs_of_piece(const Minibatch& batch, std::size_t begin, std::size_t end);

  Vocabulary vocabulary_;
  dynet::LookupParameter table_;
  dynet::LSTMBuilder lstm_;  // or
  Transformer transformer_;
  Softmax softmax_;
  // State of the current graph.
  dynet::ComputationGraph* graph_ = nullptr;
  bool training_ = false;
};

}  // namespace rnnlm

BOOST_CLASS_VERSION(rnnlm::ModelSettings, 1)
