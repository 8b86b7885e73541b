#pragma once

#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/param/parameters.h"

namespace dynet {

/// Scores of pairs of vectors, such as a head h and a dependent d in a sentence: for each of
/// `outputs` kinds k of pair
///
///     s_k(h, d) = h' U_k d + u_k' h + v_k' d + b_k
///
/// (Dozat and Manning, ICLR 2017, "Deep biaffine attention for neural dependency parsing"). With
/// one kind all pairs of a sentence make a matrix, which structures/dependency_trees/op.h makes trees of.
///
/// `new_graph` comes first; without it the functions throw ArgumentError. After an error the layer
/// is as before.
class BiaffineScorer {
 public:
  /// Arguments of the constructor, to be saved beside the parameters.
  struct Settings {
    unsigned heads = 0;          ///< size of the vectors h
    unsigned dependents = 0;     ///< of the vectors d
    unsigned outputs = 1;        ///< kinds of pair
    bool dependent_bias = true;  ///< v and b, which make no difference to which head is best

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& heads& dependents& outputs& dependent_bias;
    }
  };

  /// Throws ArgumentError for a size of zero. U and v begin with ParameterInitGlorot, u and b are
  /// zero at first.
  BiaffineScorer(ParameterCollection& model, const Settings& settings);
  /// Without parameters, to be assigned to.
  BiaffineScorer() = default;

  /// Puts the parameters into the graph; without `update` they get no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());

  /// The scores of all pairs, for one kind: {number of heads, number of dependents}. Throws
  /// ArgumentError if there is no vector, or if there are several kinds.
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
