#pragma once

#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/param/parameters.h"

namespace dynet {

/// Biaffine scores of pairs of vectors, such as a head h and a dependent d in a sentence. For each
/// of `outputs` kinds of pair, k,
///
///     s_k(h, d) = h' U_k d + u_k' h + v_k' d + b_k
///
/// (Dozat and Manning, ICLR 2017, "Deep biaffine attention for neural dependency parsing"). With
/// one kind, the scores of all pairs of a sentence are the arcs of
/// structures/dependency_trees/op.h.
///
/// `new_graph` must be called first; without it the functions throw ArgumentError. A call that
/// throws leaves the layer unchanged.
class BiaffineScorer {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    unsigned heads = 0;          ///< size of the vectors h
    unsigned dependents = 0;     ///< size of the vectors d
    unsigned outputs = 1;        ///< number of kinds of pair
    bool dependent_bias = true;  ///< v and b; they do not affect which head is best

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& heads& dependents& outputs& dependent_bias;
    }
  };

  /// Throws ArgumentError for a size of zero. U and v are initialized with ParameterInitGlorot, u
  /// and b with zero.
  BiaffineScorer(ParameterCollection& model, const Settings& settings);
  /// An empty layer, to be assigned to.
  BiaffineScorer() = default;

  /// Adds the parameters to the graph; without `update` they get no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());

  /// The scores of all pairs, for one kind: {number of heads, number of dependents}. Throws
  /// ArgumentError for no heads or no dependents, and for several kinds.
  Expression all_pairs(const std::vector<Expression>& heads,
                       const std::vector<Expression>& dependents,
                       SourceLocation at = SourceLocation::current()) const;
  /// The scores of one pair: {outputs}.
  Expression pair(const Expression& head, const Expression& dependent,
                  SourceLocation at = SourceLocation::current()) const;

  /// Collection of the parameters.
  ParameterCollection get_parameter_collection() const { return collection_; }
  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  void need_graph(const char* who, SourceLocation at) const;
  Expression weigh(const Expression& dependent, SourceLocation at) const;

  ParameterCollection collection_;
  Settings settings_;
  Parameter product_, head_, dependent_, bias_;
  Expression product_node_, head_node_, dependent_node_, bias_node_;
};

}  // namespace dynet
