#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "dynet-like/graph/computation_graph.h"

// Beam search over the token sequences of an autoregressive model, such as a translator: all
// hypotheses of many sentences advance in step.

namespace dynet {

/// Divisor of a sequence's log-probability, by its length L in tokens, end token included. It
/// compensates for the lower probability of longer sequences.
enum class LengthNormalization {
  kNone,   ///< 1
  kPower,  ///< L^alpha
  kGnmt    ///< ((5 + L) / 6)^alpha (Wu et al. 2016, "Google's neural machine translation system")
};

/// Settings of beam search.
struct BeamSettings {
  std::size_t width = 5;         ///< hypotheses per sentence
  std::size_t n = 1;             ///< results per sentence, at most `width`
  unsigned begin = 0;            ///< token before the first one
  unsigned end = 0;              ///< the token that ends a sequence
  std::size_t min_length = 0;    ///< minimum number of tokens before the end token
  std::size_t max_length = 100;  ///< maximum number of tokens before the end token
  /// `max_length` of each sentence; none: `max_length` for all sentences.
  std::vector<std::size_t> max_lengths = {};
  LengthNormalization normalization = LengthNormalization::kNone;  ///< divisor of scores
  double alpha = 1;                                                ///< its exponent, at least zero
  /// Forced prefixes of the sequences of each sentence; none: no constraint.
  std::vector<std::vector<unsigned>> prefixes = {};
};

/// A result of beam search.
template <class State>
struct BeamHypothesis {
  std::vector<unsigned> tokens;  ///< without the end token
  double log_prob;               ///< including the end token, in nats
  double score;                  ///< normalized log_prob, plus the penalty
  State state;                   ///< after the last token
};

/// The coverage penalty beta sum_i log(min(c_i, 1)) (Wu et al. 2016, equation 14), where c_i is the
/// total attention to source token i: minus infinity if some c_i is 0 and beta is not.
double coverage_penalty(std::span<const float> attention, double beta);

namespace nn_detail {

/// Throws ArgumentError unless the settings are consistent and fit the number of sentences.
void check_beam(const BeamSettings& settings, std::size_t sentences, SourceLocation at);

/// Reads the values of vectors after all nodes were created. Throws ArgumentError for a batch, for
/// vectors of fewer than `end` + 1 tokens, and for values above zero or NaN.
std::vector<std::vector<float>> read_log_probs(const char* who,
                                               const std::vector<Expression>& log_probs,
                                               unsigned end, SourceLocation at);

/// Throws ArgumentError for a penalty above zero.
void check_penalty(double penalty, SourceLocation at);

/// Hypotheses of one sentence, without their states.
class Beam {
 public:
  struct Sequence {
    std::vector<unsigned> tokens;
    double log_prob = 0, score = 0;
    std::size_t parent = 0;  // index of the hypothesis that this one extends
  };

  Beam(const BeamSettings& settings, std::size_t sentence);

  /// Unfinished hypotheses, all of the same length, the best first.
  const std::vector<Sequence>& open() const { return open_; }
  /// Hypotheses that ended in the last step.
  std::span<const Sequence> ended() const { return std::span(ended_).subspan(before_); }
  /// Indices in order of ending of the n best hypotheses that ended.
  std::vector<std::size_t> best() const;
  const Sequence& ended(std::size_t i) const { return ended_[i]; }
  /// Extends the open hypotheses by one token, given the log-probabilities of each.
  void step(std::span<const std::vector<float>> log_probs);
  /// Adds a penalty to the score of hypothesis i of those that ended in the last step.
  void add_penalty(std::size_t i, double penalty) { ended_[before_ + i].score += penalty; }
  /// Returns whether no open hypothesis can become one of the n best.
  bool is_done() const;

 private:
  double normalized(double log_prob, std::size_t length) const;
  bool may_follow(unsigned token, std::size_t length) const;

  const BeamSettings& settings_;
  const std::size_t max_length_;
  std::vector<unsigned> prefix_;
  std::vector<Sequence> open_ = {Sequence()}, ended_;
  std::size_t before_ = 0;  // number of hypotheses that ended before the last step
};

}  // namespace nn_detail

/// Beam search (Lowerre 1976; Sutskever, Vinyals, Le 2014) for sentences with initial states
/// `starts`. `Expression step(State& state, unsigned last)` advances the state by the token `last`
/// and returns the log-probabilities {V} of the next token. It is called for all hypotheses of all
/// sentences before any value is read, so that automatic batching applies. States are copied where
/// hypotheses fork.
///
/// The `width` most probable continuations are kept; an ended hypothesis keeps its place in the
/// beam and is ranked by its score
///
///     log_prob / normalization(L) + penalty(state)
///
/// where `penalty`, never above zero, may rate how well a sequence covers its source. A sentence is
/// done when no open hypothesis can become one of its n best. With a width of 1 this is greedy
/// search; with a width of at least the number of all sequences it is exhaustive.
///
/// Returns at most n results per sentence, the highest score first, of equal scores the
/// lexicographically first; none if every sequence is impossible. The results for a sentence do not
/// depend on the other sentences. Time O(width V) per token, in addition to `step`.
///
/// Errors: ArgumentError for inconsistent settings, for values that are NaN or above zero, for a
/// batch, and for a penalty above zero; exceptions of `step`.
template <class State, class Step, class Penalty>
std::vector<std::vector<BeamHypothesis<State>>> beam_search(
    std::vector<State> starts, Step step, const BeamSettings& settings, Penalty penalty,
    SourceLocation at = SourceLocation::current()) {
  nn_detail::check_beam(settings, starts.size(), at);
  struct Sentence {
    nn_detail::Beam beam;
    std::vector<State> open, ended;
    std::size_t first = 0;  // index of its first score in `scores`
  };
  std::vector<Sentence> sentences;
  for (std::size_t i = 0; i < starts.size(); ++i)
    sentences.push_back({nn_detail::Beam(settings, i), {std::move(starts[i])}, {}});
  for (;;) {
    std::vector<Expression> scores;
    for (Sentence& s : sentences) {
      if (s.beam.is_done()) continue;
      s.first = scores.size();
      for (std::size_t k = 0; k < s.open.size(); ++k) {
        const std::vector<unsigned>& tokens = s.beam.open()[k].tokens;
        scores.push_back(step(s.open[k], tokens.empty() ? settings.begin : tokens.back()));
      }
    }
    if (scores.empty()) break;
    const std::vector<std::vector<float>> values =
        nn_detail::read_log_probs("beam_search", scores, settings.end, at);
    for (Sentence& s : sentences) {
      if (s.beam.is_done()) continue;
      s.beam.step(std::span(values).subspan(s.first, s.open.size()));
      for (std::size_t i = 0; i < s.beam.ended().size(); ++i) {
        s.ended.push_back(s.open[s.beam.ended()[i].parent]);
        const double p = penalty(s.ended.back());
        nn_detail::check_penalty(p, at);
        s.beam.add_penalty(i, p);
      }
      std::vector<State> open;
      for (const auto& h : s.beam.open()) open.push_back(s.open[h.parent]);
      s.open = std::move(open);
    }
  }
  std::vector<std::vector<BeamHypothesis<State>>> results(sentences.size());
  for (std::size_t i = 0; i < sentences.size(); ++i)
    for (const std::size_t k : sentences[i].beam.best()) {
      const nn_detail::Beam::Sequence& h = sentences[i].beam.ended(k);
      results[i].push_back({h.tokens, h.log_prob, h.score, std::move(sentences[i].ended[k])});
    }
  return results;
}

/// Beam search without a penalty.
template <class State, class Step>
std::vector<std::vector<BeamHypothesis<State>>> beam_search(
    std::vector<State> starts, Step step, const BeamSettings& settings = {},
    SourceLocation at = SourceLocation::current()) {
  return beam_search(
      std::move(starts), std::move(step), settings, [](const State&) { return 0.0; }, at);
}

}  // namespace dynet
