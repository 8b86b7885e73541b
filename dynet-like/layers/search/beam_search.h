#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "dynet-like/graph/computation_graph.h"

// Search for the most probable sequence of tokens of a model that predicts one after the other,
// such as a translator: many sentences, and all hypotheses of each, in step.

namespace dynet {

/// Divisor of the log-probability of a sequence, for its length L, in tokens and with the one that
/// ends it: longer sequences are less probable, but not worse.
enum class LengthNormalization {
  kNone,   ///< 1
  kPower,  ///< L^alpha
  kGnmt    ///< ((5 + L) / 6)^alpha (Wu et al. 2016, "Google's neural machine translation system")
};

/// How beam search goes.
struct BeamSettings {
  std::size_t width = 5;         ///< hypotheses of a sentence
  std::size_t n = 1;             ///< results of a sentence, at most `width`
  unsigned begin = 0;            ///< what comes before the first token
  unsigned end = 0;              ///< the token that ends a sequence
  std::size_t min_length = 0;    ///< tokens that come before the end at least
  std::size_t max_length = 100;  ///< and at most
  /// The same for each sentence; none: `max_length` for all.
  std::vector<std::size_t> max_lengths = {};
  LengthNormalization normalization = LengthNormalization::kNone;  ///< of scores
  double alpha = 1;                                                ///< its exponent, not below zero
  /// Prefixes of the sequences of each sentence; none: anything.
  std::vector<std::vector<unsigned>> prefixes = {};
};

/// A sequence that was found.
template <class State>
struct BeamHypothesis {
  std::vector<unsigned> tokens;  ///< without the end
  double log_prob;               ///< with the end, in nats
  double score;                  ///< log_prob by length, and the penalty
  State state;                   ///< after the last of the tokens
};

/// The coverage penalty beta sum_i log(min(c_i, 1)) (Wu et al. 2016, equation 14), where c_i is the
/// attention that a source token got in all: minus infinity where one got none and beta is not 0.
double coverage_penalty(std::span<const float> attention, double beta);

namespace nn_detail {

/// Throws ArgumentError unless the settings fit so many sentences.
void check_beam(const BeamSettings& settings, std::size_t sentences, SourceLocation at);

/// The values of vectors, all of which are built before the first is read. Throws ArgumentError for
/// a batch, for fewer than `end` + 1 tokens, and for what are no log-probabilities.
std::vector<std::vector<float>> read_log_probs(const char* who,
                                               const std::vector<Expression>& log_probs,
                                               unsigned end, SourceLocation at);

/// Throws ArgumentError unless it is zero or less.
void check_penalty(double penalty, SourceLocation at);

/// The hypotheses of one sentence, without their states.
class Beam {
 public:
  struct Sequence {
    std::vector<unsigned> tokens;
    double log_prob = 0, score = 0;
    std::size_t parent = 0;  // which of those before it continues
  };

  Beam(const BeamSettings& settings, std::size_t sentence);

  /// Those that go on, all of one length: the best first.
  const std::vector<Sequence>& open() const { return open_; }
  /// Those that ended in the last step.
  std::span<const Sequence> ended() const { return std::span(ended_).subspan(before_); }
  /// The n best of what ended: indices in the order of ending.
  std::vector<std::size_t> best() const;
  const Sequence& ended(std::size_t i) const { return ended_[i]; }
  /// Goes on by a token, from the log-probabilities of those that are open.
  void step(std::span<const std::vector<float>> log_probs);
  /// Adds to the score of one that ended in the last step.
  void add_penalty(std::size_t i, double penalty) { ended_[before_ + i].score += penalty; }
  /// No hypothesis that is open can become one of the n best.
  bool is_done() const;

 private:
  double normalized(double log_prob, std::size_t length) const;
  bool may_follow(unsigned token, std::size_t length) const;

  const BeamSettings& settings_;
  const std::size_t max_length_;
  std::vector<unsigned> prefix_;
  std::vector<Sequence> open_ = {Sequence()}, ended_;
  std::size_t before_ = 0;  // how many ended before the last step
};

}  // namespace nn_detail

/// Beam search (Lowerre 1976; Sutskever, Vinyals, Le 2014) for sentences that begin in the states
/// of `starts`. `Expression step(State& state, unsigned last)` makes the state the one after the
/// token `last`, and returns the log-probabilities {V} of what may follow: it is called for all
/// hypotheses of all sentences before any of their values is read, so that automatic batching runs
/// them together. States are copied where hypotheses fork.
///
/// The `width` most probable continuations are kept; one that ends keeps its place, and competes by
/// its score
///
///     log_prob / normalization(L) + penalty(state)
///
/// where `penalty`, never above zero, may say how well a sequence covers what it was made from. A
/// sentence is done when nothing that is open could become one of its n best, whatever follows.
/// With a width of 1 this is greedy search; with one no smaller than the number of all sequences it
/// is exhaustive.
///
/// Returns for each sentence its n best, as far as there are so many, the highest score first, of
/// equal ones the lexicographically first: the same for a sentence alone and in any company.
/// Nothing where all is impossible. Time O(width V) a token, beside that of the steps.
///
/// Errors: ArgumentError for settings that contradict each other, for values that are not a number
/// or above zero, for a batch, for a penalty above zero; what `step` throws.
template <class State, class Step, class Penalty>
std::vector<std::vector<BeamHypothesis<State>>> beam_search(
    std::vector<State> starts, Step step, const BeamSettings& settings, Penalty penalty,
    SourceLocation at = SourceLocation::current()) {
  nn_detail::check_beam(settings, starts.size(), at);
  struct Sentence {
    nn_detail::Beam beam;
    std::vector<State> open, ended;
    std::size_t first = 0;  // of its scores among those of all
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

/// The same without a penalty.
template <class State, class Step>
std::vector<std::vector<BeamHypothesis<State>>> beam_search(
    std::vector<State> starts, Step step, const BeamSettings& settings = {},
    SourceLocation at = SourceLocation::current()) {
  return beam_search(
      std::move(starts), std::move(step), settings, [](const State&) { return 0.0; }, at);
}

}  // namespace dynet
