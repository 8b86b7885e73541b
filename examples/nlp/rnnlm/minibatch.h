#pragma once

#include <cstddef>
#include <vector>

#include "vocabulary.h"

namespace rnnlm {

/// Sentences side by side, one token of each at a time. The shorter ones are padded with ends.
class Minibatch {
 public:
  explicit Minibatch(std::vector<const Ids*> sentences);

  std::size_t size() const { return sentences_.size(); }
  /// Steps: the tokens of the longest sentence and its end.
  std::size_t steps() const { return steps_; }
  /// Tokens and ends, without the padding.
  std::size_t tokens() const { return tokens_; }

  /// What goes in at step t: the end at step 0, then the token before.
  std::vector<unsigned> inputs(std::size_t t) const;
  /// What is to be predicted at the steps [begin, end), step by step.
  std::vector<unsigned> targets(std::size_t begin, std::size_t end) const;
  /// For each of them 1, or 0 for padding.
  std::vector<float> mask(std::size_t begin, std::size_t end) const;

 private:
  std::vector<const Ids*> sentences_;
  std::size_t steps_ = 0;
  std::size_t tokens_ = 0;
};

/// How many sentences go into one minibatch.
struct BatchLimits {
  std::size_t sentences = 16;
  std::size_t tokens = 1500;  ///< with padding; a longer sentence goes alone
};

/// Minibatches of sentences of similar length, as places in `sentences`. Sentences of equal length
/// stay in the order of `order`, which names every sentence once.
std::vector<std::vector<std::size_t>> batches_of(const std::vector<Ids>& sentences,
                                                 std::vector<std::size_t> order,
                                                 const BatchLimits& limits);

}  // namespace rnnlm
