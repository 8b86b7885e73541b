#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "dynet-like/layers/search/beam_search.h"

// Sampling of tokens from a model's predictions. A draw is a function of the key and of the
// probabilities: equal on every machine and in every batch.

namespace dynet {

/// Distribution of sampled tokens: the temperature applies first, then top_k, then top_p.
struct SamplingSettings {
  /// Divisor of log-probabilities; zero: always the most probable token, of equal ones the first.
  double temperature = 1;
  std::size_t top_k = 0;  ///< keeps the k most probable (Fan, Lewis, Dauphin 2018); zero: all
  /// Keeps the most probable tokens that together have this probability (nucleus sampling; Holtzman
  /// et al. 2020); above zero.
  double top_p = 1;
};

/// The probabilities of sampled tokens: those that the settings keep, normalized to sum to one. Of
/// equally probable tokens the first are kept. All zero if every token is impossible.
///
/// Errors, here and below: ArgumentError for a temperature below zero, for top_p outside (0, 1] and
/// for a score that is NaN or plus infinity. Scores need not be normalized.
std::vector<double> sampling_probabilities(std::span<const float> scores,
                                           const SamplingSettings& settings = {},
                                           SourceLocation at = SourceLocation::current());

/// A token drawn with these probabilities; the number of scores if every token is impossible.
unsigned sample_token(std::span<const float> scores, std::uint64_t key,
                      const SamplingSettings& settings = {},
                      SourceLocation at = SourceLocation::current());

/// Distinct tokens, each drawn with its probability among the remaining tokens: the order of scores
/// with added Gumbel noise (Vieira 2014; Kool, van Hoof, Welling 2019). Fewer than n if fewer
/// tokens are possible.
std::vector<unsigned> sample_tokens_without_replacement(
    std::span<const float> scores, std::size_t n, std::uint64_t key, double temperature = 1,
    SourceLocation at = SourceLocation::current());

/// Settings of sequence sampling.
struct SequenceSamplingSettings {
  SamplingSettings tokens = {};  ///< of each token
  unsigned begin = 0;            ///< token before the first one
  unsigned end = 0;              ///< the token that ends a sequence
  std::size_t max_length = 100;  ///< maximum number of tokens before the end token
};

/// A sampled sequence.
template <class State>
struct SampledSequence {
  std::vector<unsigned> tokens;  ///< without the end token
  double log_prob;               ///< of the model, in nats, including the end token if there is one
  bool ended;                    ///< whether the end token was drawn
  State state;                   ///< after the last token
};

namespace nn_detail {

/// Throws ArgumentError unless the number of keys equals that of sequences.
void check_keys(std::size_t keys, std::size_t sequences, SourceLocation at);

/// The key of a token, from the key and the position of a sequence.
std::uint64_t key_of_token(std::uint64_t key, std::size_t place);

}  // namespace nn_detail

/// Samples a sequence for each start and key, token by token. `step` is that of beam_search; it is
/// called for all sequences before any value is read. A sequence also ends if no token is possible.
/// Errors: ArgumentError unless the number of keys equals that of starts, for values that are NaN
/// or above zero, for a batch, and as in sampling_probabilities; exceptions of `step`.
template <class State, class Step>
std::vector<SampledSequence<State>> sample_sequences(
    std::vector<State> starts, Step step, std::span<const std::uint64_t> keys,
    const SequenceSamplingSettings& settings = {}, SourceLocation at = SourceLocation::current()) {
  nn_detail::check_keys(keys.size(), starts.size(), at);
  std::vector<SampledSequence<State>> sequences;
  std::vector<std::size_t> open;  // indices of sequences that have not ended
  for (std::size_t i = 0; i < starts.size(); ++i) {
    sequences.push_back({{}, 0, false, std::move(starts[i])});
    open.push_back(i);
  }
  for (std::size_t length = 0; length < settings.max_length && !open.empty(); ++length) {
    std::vector<Expression> scores;
    for (const std::size_t i : open) {
      const std::vector<unsigned>& tokens = sequences[i].tokens;
      scores.push_back(step(sequences[i].state, tokens.empty() ? settings.begin : tokens.back()));
    }
    const std::vector<std::vector<float>> values =
        nn_detail::read_log_probs("sample_sequences", scores, settings.end, at);
    std::vector<std::size_t> longer;
    for (std::size_t k = 0; k < open.size(); ++k) {
      SampledSequence<State>& s = sequences[open[k]];
      const unsigned token = sample_token(values[k], nn_detail::key_of_token(keys[open[k]], length),
                                          settings.tokens, at);
      if (token == values[k].size()) continue;
      s.log_prob += static_cast<double>(values[k][token]);
      s.ended = token == settings.end;
      if (s.ended) continue;
      s.tokens.push_back(token);
      longer.push_back(open[k]);
    }
    open = std::move(longer);
  }
  return sequences;
}

}  // namespace dynet
