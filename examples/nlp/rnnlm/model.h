#pragma once

#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "corpus.h"
#include "dynet-like/dynet.h"
#include "examples/nlp/common/device.h"
#include "examples/nlp/common/split.h"
#include "minibatch.h"
#include "ngram.h"
#include "softmax.h"
#include "vocabulary.h"

namespace rnnlm {

/// The sizes of a model.
struct ModelSettings {
  unsigned word = 256;    ///< size of a token's vector
  unsigned hidden = 256;  ///< LSTM size
  unsigned layers = 1;
  float dropout = 0.3f;  ///< of what goes into each layer and comes out of the last
  Loss loss = Loss::kFull;
  unsigned samples = 512;  ///< of the sampled loss, for each minibatch

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& word& hidden& layers& dropout& loss& samples;
  }
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
};

/// Collects the vocabulary and the n-grams.
Description describe(const DataSettings& data, const ModelSettings& settings, const Corpus& train);

/// What an LSTM remembers of a minibatch, so that one graph can go on where another ended.
struct Memory {
  unsigned batch = 0;
  std::vector<std::vector<float>> parts;  ///< empty at the start of a sentence
};

/// The language model: the vector of the token before, an LSTM, and a softmax over all tokens.
/// Sentences are independent of each other.
class Model : public nlp::OnDevice {
 public:
  Model(Description description, std::uint64_t seed);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const Description& description() const { return description_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  dynet::ParameterCollection& parameters() { return parameters_; }
  const dynet::ParameterCollection& parameters() const { return parameters_; }

  /// Declares the parameters in an empty graph. Training drops out.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Sentences go on from there; an empty memory is their start.
  void begin_sentences(const Memory& memory = {});
  /// One step: the outputs {hidden} after these tokens, one of each sentence.
  dynet::Expression step(const std::vector<unsigned>& tokens);
  /// Scores {tokens} of what comes next.
  dynet::Expression scores(const dynet::Expression& output) { return softmax_.scores(output); }
  /// Minus the log-probability, {1}, of each target of the steps [begin, end), step by step: 0 for
  /// padding. With `random` the loss of training, sampled if the settings say so.
  dynet::Expression losses(const Minibatch& batch, std::size_t begin, std::size_t end,
                           nlp::Random* random = nullptr);
  /// What the last step left, once its graph is computed.
  Memory memory() const;

 private:
  Description description_;
  Vocabulary vocabulary_;
  dynet::ParameterCollection parameters_;
  dynet::LookupParameter table_;
  dynet::LSTMBuilder lstm_;
  Softmax softmax_;
  // Of the current graph.
  dynet::ComputationGraph* graph_ = nullptr;
  bool training_ = false;
};

}  // namespace rnnlm
