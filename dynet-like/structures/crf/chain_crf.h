#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/param/parameters.h"
#include "dynet-like/structures/crf/chain_decoding.h"
#include "dynet-like/structures/crf/tag_constraints.h"

namespace dynet {

/// A linear-chain CRF over `tags` tags, on top of a network's scores {tags, T} for the words of a
/// sentence. Its parameters are the scores of transitions {tags, tags}, of the first and of the
/// last tag {tags}. A tag or transition that the constraints forbid scores minus infinity.
/// structures/crf/op.h has the formulas.
///
/// `new_graph` must be called first; without it the functions throw ArgumentError. A call that
/// throws leaves the layer unchanged.
class ChainCrf {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    unsigned tags = 0;            ///< number of tags
    TagConstraints allowed = {};  ///< empty: all sequences

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& tags& allowed.tags& allowed.follows& allowed.begins& allowed.ends;
    }
  };

  /// Throws ArgumentError for zero tags, and for constraints with another number of tags.
  ChainCrf(ParameterCollection& model, const Settings& settings);
  ChainCrf(ParameterCollection& model, unsigned tags) : ChainCrf(model, Settings{tags, {}}) {}
  /// An empty layer, to be assigned to.
  ChainCrf() = default;

  /// Adds the parameters to the graph; without `update` they get no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());

  /// The logarithm of the sum of e^score over all sequences: {1}.
  Expression log_partition(const Expression& scores,
                           SourceLocation at = SourceLocation::current()) const;
  /// The log-probability of `tags`: {1}, never above zero. With kAnyTag for some tags, it is that
  /// of all sequences that agree with the known tags. Its negative is the training loss.
  Expression log_prob(const Expression& scores, std::span<const unsigned> tags,
                      SourceLocation at = SourceLocation::current()) const;
  /// The probability of each tag of each word: {tags, T}.
  Expression marginals(const Expression& scores,
                       SourceLocation at = SourceLocation::current()) const;
  /// The entropy of the distribution over sequences, in nats: {1}.
  Expression entropy(const Expression& scores, SourceLocation at = SourceLocation::current()) const;

  /// The most probable tags; of equally probable ones the lexicographically first. NumericError if
  /// all sequences are forbidden. Here and below: ArgumentError for a batch (decode its elements
  /// one by one), and NumericError for scores that are NaN or plus infinity.
  std::vector<unsigned> best(const Expression& scores,
                             SourceLocation at = SourceLocation::current()) const;
  /// At most n most probable sequences, with their scores.
  std::vector<ScoredTags> best(const Expression& scores, std::size_t n,
                               SourceLocation at = SourceLocation::current()) const;
  /// A sample of the distribution; equal keys give equal samples. NumericError as for `best`.
  std::vector<unsigned> sample(const Expression& scores, std::uint64_t key,
                               SourceLocation at = SourceLocation::current()) const;

  /// Collection of the parameters.
  ParameterCollection get_parameter_collection() const { return collection_; }
  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  void need_graph(const char* who, SourceLocation at) const;
  ChainScores values(const char* who, const Expression& scores, SourceLocation at) const;

  ParameterCollection collection_;
  Settings settings_;
  Parameter transitions_, start_, stop_;
  Expression transition_scores_, start_scores_, stop_scores_;
};

}  // namespace dynet
