#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "dynet-like/layers/search/beam_search.h"

// Tokens drawn from what a model says may follow. A draw is a function of the key and of the
// probabilities: the same on every machine, alone and in any company.

namespace dynet {

/// Distribution that tokens are drawn from: first the temperature applies, then k, then p.
struct SamplingSettings {
  /// Log-probabilities are divided by it; zero: always the most probable token, of equal ones the
  /// first.
  double temperature = 1;
  std::size_t top_k = 0;  ///< only the k most probable tokens (Fan, Lewis, Dauphin 2018); zero: all
  /// Only the most probable tokens that have this much of the probability together (nucleus
  /// sampling; Holtzman et al. 2020); above zero.
  double top_p = 1;
};

/// The probabilities that tokens are drawn with: of what the settings leave, with the sum one. Of
/// equally probable ones the first stay. All zero where every token is impossible.
///
/// Errors, here and below: ArgumentError for a temperature below zero, for p outside (0, 1] and for
/// a score that is not a number or plus infinity. Scores need not be normalized.
std::vector<double> sampling_probabilities(std::span<const float> scores,
                                           const SamplingSettings& settings = {},
                                           SourceLocation at = SourceLocation::current());

/// A token, drawn with these probabilities; as many as there are scores where all are impossible.
unsigned sample_token(std::span<const float> scores, std::uint64_t key,
                      const SamplingSettings& settings = {},
                      SourceLocation at = SourceLocation::current());

/// Different tokens, each drawn with its probability among those that are left: the order of
/// scores to which Gumbel noise was added (Vieira 2014; Kool, van Hoof, Welling 2019). Fewer than n
/// where no others are possible.
std::vector<unsigned> sample_tokens_without_replacement(
    std::span<const float> scores, std::size_t n, std::uint64_t key, double temperature = 1,
    SourceLocation at = SourceLocation::current());

/// How sequences are drawn.
struct SequenceSamplingSettings {
  SamplingSettings tokens = {};  ///< of each token
  unsigned begin = 0;            ///< what comes before the first token
  unsigned end = 0;              ///< the token that ends a sequence
  std::size_t max_length = 100;  ///< tokens before the end at most: then it ends without one
};

/// A sequence that was drawn.
template <class State>
struct SampledSequence {
  std::vector<unsigned> tokens;  ///< without the end
  double log_prob;               ///< by the model, in nats, with the end if there is one
  bool ended;                    ///< with the token that ends it
  State state;                   ///< after the last of the tokens
};

namespace nn_detail {

/// Throws ArgumentError for another number of keys than of sequences.
void check_keys(std::size_t keys, std::size_t sequences, SourceLocation at);

/// The key of the token at a place of a sequence with a key.
std::uint64_t key_of_token(std::uint64_t key, std::size_t place);

}  // namespace nn_detail

/// A sequence for each start, by its key, token by token: `step` is that of beam_search, called for
/// all sequences before any value is read. A sequence ends as well where nothing may follow.
/// Errors: ArgumentError for another number of keys than of starts, for values that are not a
/// number or above zero, for a batch, and those of sampling_probabilities; what `step` throws.
template <class State, class Step>
std::vector<SampledSequence<State>> sample_sequences(
    std::vector<State> starts, Step step, std::span<const std::uint64_t> keys,
    const SequenceSamplingSettings& settings = {}, SourceLocation at = SourceLocation::current()) {
  nn_detail::check_keys(keys.size(), starts.size(), at);
  std::vector<SampledSequence<State>> sequences;
  std::vector<std::size_t> open;  // those that have not ended
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
