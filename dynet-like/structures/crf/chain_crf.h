#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/param/parameters.h"
#include "dynet-like/structures/crf/chain_decoding.h"
#include "dynet-like/structures/crf/tag_constraints.h"

namespace dynet {

/// A linear-chain CRF over `tags` tags, on top of scores {tags, T} that a network gives the words
/// of a sentence: its parameters are the scores of transitions {tags, tags}, of the first and of
/// the last tag {tags}. What constraints forbid has the score minus infinity. structures/crf/op.h has the
/// formulas.
///
/// `new_graph` comes first; without it the functions throw ArgumentError. After an error the layer
/// is as before.
class ChainCrf {
 public:
  /// Arguments of the constructor, to be saved beside the parameters.
  struct Settings {
    unsigned tags = 0;            ///< how many there are
    TagConstraints allowed = {};  ///< empty: every sequence

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& tags& allowed.tags& allowed.follows& allowed.begins& allowed.ends;
    }
  };

  /// Throws ArgumentError for no tags, and for constraints of another number of tags.
  ChainCrf(ParameterCollection& model, const Settings& settings);
  ChainCrf(ParameterCollection& model, unsigned tags) : ChainCrf(model, Settings{tags, {}}) {}
  /// Without parameters, to be assigned to.
  ChainCrf() = default;

  /// Puts the parameters into the graph; without `update` they get no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());

  /// The logarithm of the sum of e^score over all sequences: {1}.
  Expression log_partition(const Expression& scores,
                           SourceLocation at = SourceLocation::current()) const;
  /// The log-probability of the tags, or of all sequences that agree with them where some are
  /// kAnyTag: {1}, never above zero. Its negative is the loss of training.
  Expression log_prob(const Expression& scores, std::span<const unsigned> tags,
                      SourceLocation at = SourceLocation::current()) const;
  /// The probability of each tag of each word: {tags, T}.
  Expression marginals(const Expression& scores,
                       SourceLocation at = SourceLocation::current()) const;
  /// The entropy of the distribution over sequences, in nats: {1}.
  Expression entropy(const Expression& scores, SourceLocation at = SourceLocation::current()) const;

  /// The most probable tags; of equal ones the lexicographically first. NumericError if all are
  /// forbidden. Here and below ArgumentError for a batch (decode its elements one by one), and
  /// NumericError for scores that are NaN or plus infinity.
  std::vector<unsigned> best(const Expression& scores,
                             SourceLocation at = SourceLocation::current()) const;
  /// The n most probable sequences, as far as there are so many, with their scores.
  std::vector<ScoredTags> best(const Expression& scores, std::size_t n,
                               SourceLocation at = SourceLocation::current()) const;
  /// Tags drawn with their probability: the same ones for the same key. NumericError as for `best`.
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
