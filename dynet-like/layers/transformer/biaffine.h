#pragma once

#include <vector>

#include "dynet-like/layers/layer_base.h"

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
/// Parameters: U {outputs*heads,dependents}, u {outputs*heads}, v {outputs,dependents} and b
/// {outputs}.
class BiaffineScorer : public LayerBase {
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

  /// The scores of all pairs, for one kind: {number of heads, number of dependents}. Throws
  /// ArgumentError for no heads or no dependents, and for several kinds.
  Expression all_pairs(const std::vector<Expression>& heads,
                       const std::vector<Expression>& dependents,
                       SourceLocation at = SourceLocation::current()) const;
  /// The scores of one pair: {outputs}.
  Expression pair(const Expression& head, const Expression& dependent,
                  SourceLocation at = SourceLocation::current()) const;

  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  void list_parts(Parts& parts) override;
  Expression weigh(const Expression& dependent, SourceLocation at) const;

  Settings settings_;
  Weight product_, head_, dependent_, bias_;
};

}  // namespace dynet
