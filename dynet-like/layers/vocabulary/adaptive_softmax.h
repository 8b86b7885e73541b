#pragma once

#include <vector>

#include "dynet-like/layers/transformer/linear.h"
#include "dynet-like/layers/vocabulary/softmax_builder.h"

namespace dynet {

/// Adaptive softmax, for word frequencies with a long tail (Grave, Joulin, Cisse, Grangier, Jegou
/// 2017, "Efficient softmax approximation for GPUs"). Words are numbered by frequency; 0 is the
/// most frequent word. Given cutoffs c_0 < c_1 < ... < c_k = `num_classes`, the head chooses a word
/// below c_0 or one of k clusters; the tail of cluster i chooses one of its words c_i ... c_{i+1} -
/// 1, from a smaller projection:
///
///     p(w) = softmax(H rep)_w                                    for w < c_0
///     p(w) = softmax(H rep)_{c_0 + i} softmax(O_i P_i rep)_{w - c_i}   for c_i <= w < c_{i+1}
///
/// H {c_0 + k, rep_dim}, P_i {d_i, rep_dim}, O_i {c_{i+1} - c_i, d_i} with d_i = rep_dim /
/// shrink^(i+1), at least one; with `bias` the head has a bias. The definition is that of PyTorch's
/// AdaptiveLogSoftmaxWithLoss. Without cutoffs it is a standard softmax.
///
/// A loss computes only the tails of the clusters of its words, each tail for the batch elements
/// whose words are in the cluster. The distribution is exact: probabilities add up to one.
class AdaptiveSoftmaxBuilder : public SoftmaxBuilder {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    unsigned rep_dim = 0;      ///< size of `rep`
    unsigned num_classes = 0;  ///< number of words
    std::vector<unsigned> cutoffs =
        {};            ///< c_0, c_1, ...; without `num_classes`, which is appended
    float shrink = 4;  ///< at least one
    bool bias = true;  ///< of the head

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& rep_dim& num_classes& cutoffs& shrink& bias;
    }
  };

  /// Throws ArgumentError for a size of zero, cutoffs that are zero, do not rise or are not below
  /// `num_classes`, and a `shrink` that is below one or not finite.
  AdaptiveSoftmaxBuilder(ParameterCollection& model, const Settings& s);
  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

  using SoftmaxBuilder::neg_log_softmax;
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current()) override;
  Expression neg_log_softmax(const Expression& rep, const std::vector<unsigned>& words,
                             SourceLocation at = SourceLocation::current()) override;
  unsigned sample(const Expression& rep, SourceLocation at = SourceLocation::current()) override;
  Expression full_log_distribution(const Expression& rep,
                                   SourceLocation at = SourceLocation::current()) override;
  Expression full_logits(const Expression& rep,
                         SourceLocation at = SourceLocation::current()) override;

 private:
  struct Tail {
    unsigned first = 0, size = 0;  // of its words
    Linear project, choose;
  };
  /// Number of words in the head.
  unsigned head_words() const { return settings_.num_classes - tail_words_; }
  /// The cluster of a word; `tails_.size()` for a word of the head.
  std::size_t cluster_of(unsigned word) const;
  void need_graph(const char* who, SourceLocation at) const;
  Expression tail_logits(const Tail& tail, const Expression& rep, SourceLocation at) const;
  Expression all(const Expression& rep, bool normalized, SourceLocation at) const;

  Settings settings_;
  unsigned tail_words_ = 0;
  Linear head_;
  std::vector<Tail> tails_;
  bool ready_ = false;
};

}  // namespace dynet
