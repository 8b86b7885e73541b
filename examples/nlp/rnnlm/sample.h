#pragma once

#include <cstddef>
#include <vector>

#include "examples/nlp/common/random.h"
#include "model.h"

namespace rnnlm {

/// Settings of sampling.
struct SampleSettings {
  /// Divisor of the scores: below 1 favours likely tokens; 0 selects the most likely one.
  double temperature = 1;
  std::size_t longest = 200;  ///< maximum number of tokens, including the prefix
};

/// Draws a token from the softmax of the scores, except the unknown one. Does not use `random` at
/// temperature 0.
unsigned draw_token(const std::vector<float>& scores, double temperature, nlp::Random& random);

/// Draws a sentence that starts with `prefix`; returned without its end.
Ids sample_sentence(Model& model, const Ids& prefix, const SampleSettings& settings,
                    nlp::Random& random);

}  // namespace rnnlm
