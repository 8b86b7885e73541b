#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "examples/nlp/common/score.h"
#include "model.h"

namespace rnnlm {

/// Negative log-probability of each sentence, including its end. `progress` is the title of a
/// progress bar; no bar if it is empty.
std::vector<double> sentence_losses(Model& model, const std::vector<Ids>& sentences,
                                    const std::string& progress = "");

/// Scores of a model on a corpus.
struct Report {
  std::string name;
  std::size_t sentences = 0;
  std::size_t words = 0;  ///< including ends of sentences, like all counts
  std::size_t characters = 0;
  std::size_t tokens = 0;
  std::size_t unknown = 0;  ///< unknown tokens
  double loss = 0;          ///< negative log-probability of the corpus
  unsigned ngram = 0;       ///< order of the n-gram baseline, 0 for none
  double ngram_loss = 0;

  double perplexity() const;  ///< e to the mean loss per token
  double ngram_perplexity() const;
  /// Perplexities of both models, per token, word and character.
  nlp::Figures figures() const;
  nlp::Counts counts() const;
  /// Prints both models side by side in a few lines.
  void print(std::ostream& out) const;
};

/// Scores the model and its n-gram baseline on a corpus.
Report evaluate(Model& model, const Corpus& corpus, const std::string& name);

}  // namespace rnnlm
