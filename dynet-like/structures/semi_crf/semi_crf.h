#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dynet-like/layers/layer_base.h"
#include "dynet-like/structures/semi_crf/segment_decoding.h"

namespace dynet {

/// A semi-Markov CRF over segments of up to `longest` words with `labels` labels, on top of a
/// network's scores {labels * longest, T}. Its parameters are the scores of transitions {labels,
/// labels}, of the first and of the last label {labels}. structures/semi_crf/op.h has the formulas.
class SemiCrf : public LayerBase {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    unsigned labels = 0;   ///< number of labels
    unsigned longest = 0;  ///< maximum length of a segment, in words

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& labels& longest;
    }
  };

  /// Throws ArgumentError if `labels` or `longest` is zero.
  SemiCrf(ParameterCollection& model, const Settings& settings);
  /// An empty layer, to be assigned to.
  SemiCrf() = default;

  /// The logarithm of the sum of e^score over all segmentations: {1}.
  Expression log_partition(const Expression& scores,
                           SourceLocation at = SourceLocation::current()) const;
  /// The log-probability of segments whose lengths add up to T: {1}, never above zero. Its negative
  /// is the training loss.
  Expression log_prob(const Expression& scores, std::span<const Segment> segments,
                      SourceLocation at = SourceLocation::current()) const;
  /// The probability of each segment: {labels * longest, T}.
  Expression marginals(const Expression& scores,
                       SourceLocation at = SourceLocation::current()) const;
  /// The entropy of the distribution over segmentations, in nats: {1}.
  Expression entropy(const Expression& scores, SourceLocation at = SourceLocation::current()) const;

  /// The most probable segments; of equally probable ones the lexicographically first. NumericError
  /// if all segmentations are forbidden. Here and below: ArgumentError for a batch (decode its
  /// elements one by one), and NumericError for scores that are NaN or plus infinity.
  std::vector<Segment> best(const Expression& scores,
                            SourceLocation at = SourceLocation::current()) const;
  /// At most n most probable segmentations, with their scores.
  std::vector<ScoredSegments> best(const Expression& scores, std::size_t n,
                                   SourceLocation at = SourceLocation::current()) const;
  /// A sample of the distribution; equal keys give equal samples. NumericError as for `best`.
  std::vector<Segment> sample(const Expression& scores, std::uint64_t key,
                              SourceLocation at = SourceLocation::current()) const;

  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  void list_parts(Parts& parts) override;
  void need(const char* who, const Expression& scores, SourceLocation at) const;
  SegmentScores values(const char* who, const Expression& scores, SourceLocation at) const;

  Settings settings_;
  Weight transitions_, start_, stop_;
};

}  // namespace dynet
