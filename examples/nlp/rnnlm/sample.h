#pragma once

#include <cstddef>
#include <vector>

#include "examples/nlp/common/random.h"
#include "model.h"

namespace rnnlm {

/// How sentences are drawn.
struct SampleSettings {
  /// Scores are divided by it: below 1 the likely becomes likelier; 0 always takes the likeliest.
  double temperature = 1;
  std::size_t longest = 200;  ///< tokens, those of the beginning included
};

/// A token drawn from the softmax of the scores, never the unknown one. Draws nothing from `random`
/// at temperature 0.
unsigned draw_token(const std::vector<float>& scores, double temperature, nlp::Random& random);

/// A sentence that starts with `prefix`, without its end.
Ids sample_sentence(Model& model, const Ids& prefix, const SampleSettings& settings,
                    nlp::Random& random);

}  // namespace rnnlm
