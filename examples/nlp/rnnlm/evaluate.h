#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "examples/nlp/common/score.h"
#include "model.h"

namespace rnnlm {

/// Minus the log-probability of each sentence, its end included. `progress` names what is shown on
/// standard error; "" shows nothing.
std::vector<double> sentence_losses(Model& model, const std::vector<Ids>& sentences,
                                    const std::string& progress = "");

/// How well a model predicts a corpus.
struct Report {
  std::string name;
  std::size_t sentences = 0;
  std::size_t words = 0;  ///< ends of sentences included, as everywhere here
  std::size_t characters = 0;
  std::size_t tokens = 0;
  std::size_t unknown = 0;  ///< tokens that the model does not know
  double loss = 0;          ///< minus the log-probability of the corpus
  unsigned ngram = 0;       ///< order of the n-gram model, 0 for none
  double ngram_loss = 0;

  double perplexity() const;  ///< e to the mean loss of a token
  double ngram_perplexity() const;
  /// Perplexities of both models, by token, by word and by character.
  nlp::Figures figures() const;
  nlp::Counts counts() const;
  /// A few lines with both models side by side.
  void print(std::ostream& out) const;
};

/// The model and the n-gram model that it is compared with on a corpus.
Report evaluate(Model& model, const Corpus& corpus, const std::string& name);

}  // namespace rnnlm
