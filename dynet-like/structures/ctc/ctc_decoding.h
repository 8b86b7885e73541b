#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dynet-like/graph/computation_graph.h"

// Decoders for models trained with ctc_loss, see structures/ctc/op.h.

namespace dynet {

/// Log-probabilities of an utterance as numbers.
struct CtcScores {
  unsigned symbols = 0, frames = 0;
  std::vector<float> log_probs;  ///< {symbols, frames}, column-major
  unsigned blank = 0;            ///< the symbol for no label

  /// Log-probability of a symbol at frame t.
  double score(unsigned t, unsigned symbol) const {
    return static_cast<double>(log_probs[std::size_t{t} * symbols + symbol]);
  }
};

/// Labels and their log-probability.
struct ScoredLabels {
  std::vector<unsigned> labels;  ///< without blanks
  double score;                  ///< in nats
};

/// A symbol for each frame, and the sum of their log-probabilities.
struct ScoredAlignment {
  std::vector<unsigned> symbols;  ///< by frame, including blanks
  double score;                   ///< in nats
};

/// The labels of an alignment: repeats are removed first, then blanks.
std::vector<unsigned> ctc_collapse(std::span<const unsigned> symbols, unsigned blank = 0);

/// The most probable symbol of each frame, of equal ones the first. Its labels are not always the
/// most probable ones.
ScoredAlignment ctc_best_path(const CtcScores& scores);

/// The best alignment of known labels (forced alignment), of equal ones the lexicographically
/// first. No symbols and minus infinity if no alignment is possible. Time O(frames labels).
ScoredAlignment ctc_best_alignment(const CtcScores& scores, std::span<const unsigned> labels);

/// A sample of the distribution over labels; equal keys give equal samples. Columns need not sum to
/// one. Empty if some frame allows no symbol.
std::vector<unsigned> ctc_sample(const CtcScores& scores, std::uint64_t key);

/// Settings of prefix beam search.
struct CtcBeam {
  std::size_t width = 100;  ///< number of prefixes kept after each frame
  std::size_t n = 1;        ///< number of results
  /// Logarithm added to the score when `label` is appended to `prefix`, such as the weighted score
  /// of a language model and a bonus per label. It must be a pure function: the search may call it
  /// again for the same prefix and label.
  std::function<double(std::span<const unsigned> prefix, unsigned label)> extend = {};
  /// Logarithm added at the end to the score of each prefix in the beam.
  std::function<double(std::span<const unsigned> labels)> finish = {};
};

/// The n best results of prefix beam search (Hannun, Maas, Jurafsky, Ng 2014): the score of a
/// prefix is the log-probability of all its alignments so far. The highest score first, of equal
/// scores the lexicographically first; impossible labels are left out. If the beam is never full,
/// these are the n best of all labels, and scores without `extend` and `finish` are their
/// log-probabilities. Time O(frames width symbols).
std::vector<ScoredLabels> ctc_beam_search(const CtcScores& scores, const CtcBeam& beam = {});

/// Decoders for expressions {V,T}. ArgumentError for a batch (decode its elements one by one), for
/// more than two dimensions, and for a blank or labels that are not below V. NumericError, as in
/// the functions above, for scores that are NaN or plus infinity.
class CtcDecoder {
 public:
  explicit CtcDecoder(CtcBeam beam = {}, unsigned blank = 0)
      : beam_(std::move(beam)), blank_(blank) {}

  /// The best labels of prefix beam search; NumericError if all labels are impossible.
  std::vector<unsigned> best(const Expression& log_probs,
                             SourceLocation at = SourceLocation::current()) const;
  /// At most n best labels of prefix beam search.
  std::vector<ScoredLabels> best(const Expression& log_probs, std::size_t n,
                                 SourceLocation at = SourceLocation::current()) const;
  /// The labels of the best path.
  std::vector<unsigned> greedy(const Expression& log_probs,
                               SourceLocation at = SourceLocation::current()) const;
  /// The best alignment of `labels`.
  ScoredAlignment align(const Expression& log_probs, std::span<const unsigned> labels,
                        SourceLocation at = SourceLocation::current()) const;
  /// A sample of the distribution over labels.
  std::vector<unsigned> sample(const Expression& log_probs, std::uint64_t key,
                               SourceLocation at = SourceLocation::current()) const;

 private:
  CtcScores values(const char* who, const Expression& log_probs, SourceLocation at) const;

  CtcBeam beam_;
  unsigned blank_;
};

}  // namespace dynet
