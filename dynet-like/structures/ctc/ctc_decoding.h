#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dynet-like/graph/computation_graph.h"

// Finding labels from what ctc_loss is trained on: see structures/ctc/op.h.

namespace dynet {

/// Log-probabilities of an utterance, as numbers.
struct CtcScores {
  unsigned symbols = 0, frames = 0;
  std::vector<float> log_probs;  ///< {symbols, frames}, column-major
  unsigned blank = 0;            ///< the symbol that stands for no label

  /// Score of a symbol at frame t.
  double score(unsigned t, unsigned symbol) const {
    return static_cast<double>(log_probs[std::size_t{t} * symbols + symbol]);
  }
};

/// Labels, and the logarithm of how probable they are.
struct ScoredLabels {
  std::vector<unsigned> labels;  ///< without blanks
  double score;                  ///< in nats
};

/// A symbol for each frame, and the sum of their scores.
struct ScoredAlignment {
  std::vector<unsigned> symbols;  ///< by frame, blanks among them
  double score;                   ///< in nats
};

/// The labels of an alignment: without repeats, then without blanks.
std::vector<unsigned> ctc_collapse(std::span<const unsigned> symbols, unsigned blank = 0);

/// The best symbol of each frame, of equal ones the first. Its labels are often, not always, the
/// most probable ones.
ScoredAlignment ctc_best_path(const CtcScores& scores);

/// The best alignment of labels that are known, of equal ones the lexicographically first (forced
/// alignment). No symbols and minus infinity where none is possible. Time O(frames labels).
ScoredAlignment ctc_best_alignment(const CtcScores& scores, std::span<const unsigned> labels);

/// Labels drawn with their probability: the same ones for the same key. Columns need not have the
/// sum one. Nothing where a frame allows no symbol.
std::vector<unsigned> ctc_sample(const CtcScores& scores, std::uint64_t key);

/// How prefix beam search goes.
struct CtcBeam {
  std::size_t width = 100;  ///< prefixes that are kept after each frame
  std::size_t n = 1;        ///< results
  /// Logarithm added to the score of `prefix` when `label` follows it, such as the weighted score
  /// of a language model and a bonus for each label. The result for one prefix must not change: it
  /// may be computed again.
  std::function<double(std::span<const unsigned> prefix, unsigned label)> extend = {};
  /// Logarithm added at the end to the scores of the prefixes left in the beam.
  std::function<double(std::span<const unsigned> labels)> finish = {};
};

/// The n best of the labels that prefix beam search finds (Hannun, Maas, Jurafsky, Ng 2014): a
/// prefix has the probability of all its alignments so far. The highest score first, of equal ones
/// the lexicographically first; none that is impossible. With a width that no frame exceeds these
/// are the n best of all labels, and scores without functions are their log-probabilities. Time
/// O(frames width symbols).
std::vector<ScoredLabels> ctc_beam_search(const CtcScores& scores, const CtcBeam& beam = {});

/// The same for expressions {V,T}: ArgumentError for a batch, whose elements are to be decoded one
/// by one, for more than a matrix, and for a blank or labels that there are not. As for the
/// functions above, NumericError for scores that are NaN or plus infinity.
class CtcDecoder {
 public:
  explicit CtcDecoder(CtcBeam beam = {}, unsigned blank = 0)
      : beam_(std::move(beam)), blank_(blank) {}

  /// The labels that prefix beam search likes best; NumericError if all are impossible.
  std::vector<unsigned> best(const Expression& log_probs,
                             SourceLocation at = SourceLocation::current()) const;
  /// The n best, as far as it finds so many.
  std::vector<ScoredLabels> best(const Expression& log_probs, std::size_t n,
                                 SourceLocation at = SourceLocation::current()) const;
  /// The labels of the best path.
  std::vector<unsigned> greedy(const Expression& log_probs,
                               SourceLocation at = SourceLocation::current()) const;
  /// The best alignment of labels.
  ScoredAlignment align(const Expression& log_probs, std::span<const unsigned> labels,
                        SourceLocation at = SourceLocation::current()) const;
  /// Labels drawn with their probability.
  std::vector<unsigned> sample(const Expression& log_probs, std::uint64_t key,
                               SourceLocation at = SourceLocation::current()) const;

 private:
  CtcScores values(const char* who, const Expression& log_probs, SourceLocation at) const;

  CtcBeam beam_;
  unsigned blank_;
};

}  // namespace dynet
