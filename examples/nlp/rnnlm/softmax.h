#pragma once

#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "examples/nlp/common/random.h"

namespace rnnlm {

/// How the loss of training is computed. Evaluation always uses the full softmax.
enum class Loss {
  kFull,
  kSampled,  ///< the right token against a random few
};

const char* loss_name(Loss loss);
/// Throws UserError listing the names.
Loss loss_from_name(const std::string& name);

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
  // Of the current graph.
  dynet::ComputationGraph* graph_ = nullptr;
  bool ready_ = false;
  dynet::Expression weight_node_, bias_node_;
};

}  // namespace rnnlm
