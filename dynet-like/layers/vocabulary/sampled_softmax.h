#pragma once

#include <cstdint>
#include <vector>

#include "dynet-like/layers/vocabulary/softmax_builder.h"

namespace dynet {

/// Negative samples of a loss, see SampledSoftmaxBuilder.
struct NegativeSamples {
  std::vector<unsigned> classes;    ///< may contain duplicates
  std::vector<float> log_expected;  ///< log of the expected number of occurrences of each class
};

/// softmax(E rep + b), as in StandardSoftmaxBuilder, with training losses whose cost does not
/// depend on the number of classes. E and b are lookup tables: only the rows that a loss reads get
/// a gradient, and trainers with sparse updates update only those rows.
///
/// Classes are drawn from a proposal q: proportional to `weights`, such as counts or powers of
/// counts (Mikolov et al. 2013), or, without weights, log-uniformly, for classes that are numbered
/// by frequency with the most frequent class 0:
///
///     q(c) = log((c + 2) / (c + 1)) / log(num_classes + 1)
///
/// The functions of SoftmaxBuilder are exact and read all rows.
class SampledSoftmaxBuilder : public SoftmaxBuilder {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    unsigned rep_dim = 0;             ///< size of `rep`
    unsigned num_classes = 0;         ///< number of classes
    unsigned samples = 100;           ///< negatives per loss
    std::vector<float> weights = {};  ///< of the proposal, one per class; none: log-uniform
    bool bias = true;                 ///< b

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& rep_dim& num_classes& samples& weights& bias;
    }
  };

  /// Throws ArgumentError for a size, classes or samples of zero, if weights are given but not one
  /// for each class, and for a weight that is not above zero or not finite. E has the initial
  /// values of lookup parameters, b is initialized with -log(num_classes), so that e^score is close
  /// to a probability from the start, as `nce_loss` requires; the softmax does not change.
  SampledSoftmaxBuilder(ParameterCollection& model, const Settings& s);
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

  /// Draws `samples` classes from q with replacement; equal keys give equal samples.
  NegativeSamples draw(std::uint64_t key) const;
  /// log of the expected number of occurrences of a class among `samples`: log(samples q(c)).
  /// Throws IndexError for an unknown class.
  double log_expected(unsigned c, SourceLocation at = SourceLocation::current()) const;

  /// The loss of a softmax over the class and the negatives N, with scores corrected by their
  /// expected number of occurrences (Jean, Cho, Memisevic, Bengio 2015, "On using very large target
  /// vocabulary for neural machine translation"):
  ///
  ///     -log(e^u_w / (e^u_w + sum_{c in N, c != w} e^u_c)),   u_c = E_c rep + b_c - log(k q(c))
  ///
  /// with k = `samples`. Words as in `neg_log_softmax`; the negatives are drawn with the graph's
  /// seed and shared by all words. {1} for each word, as a batch.
  Expression sampled_loss(const Expression& rep, const std::vector<unsigned>& words,
                          SourceLocation at = SourceLocation::current());
  /// `sampled_loss` with given negatives and corrections, also for the words: with every class once
  /// and corrections of zero, it equals `neg_log_softmax`. Throws ArgumentError for no negatives
  /// and for a wrong number of corrections, IndexError for an unknown class.
  Expression sampled_loss(const Expression& rep, const std::vector<unsigned>& words,
                          const NegativeSamples& negatives,
                          const std::vector<float>& words_log_expected,
                          SourceLocation at = SourceLocation::current());
  /// Noise-contrastive estimation (Gutmann and Hyvarinen 2010; Mnih and Teh 2012), the
  /// classification of classes from the data against classes from q:
  ///
  ///     -log s(u_w) - sum_{c in N} log s(-u_c),   s(x) = 1 / (1 + e^-x)
  ///
  /// with u as in `sampled_loss`. Scores approach log-probabilities without normalization. Words
  /// and negatives as in `sampled_loss`.
  Expression nce_loss(const Expression& rep, const std::vector<unsigned>& words,
                      SourceLocation at = SourceLocation::current());

 private:
  struct Scores {
    Expression words, negatives;  // u_w {1}, u_c {k}
  };
  Scores corrected(const char* who, const Expression& rep, const std::vector<unsigned>& words,
                   const NegativeSamples& negatives, const std::vector<float>& words_log_expected,
                   SourceLocation at) const;
  std::vector<float> expected(const std::vector<unsigned>& classes, SourceLocation at) const;
  Expression rows(const LookupParameter& table, const std::vector<unsigned>& classes,
                  SourceLocation at) const;
  Expression whole(const LookupParameter& table, SourceLocation at) const;
  void need_graph(const char* who, SourceLocation at) const;

  Settings settings_;
  std::vector<double> sums_;  // prefix sums of the weights
  LookupParameter table_, biases_;
  Expression in_graph_;              // any node
  Expression matrix_, bias_vector_;  // of all classes; created by the first exact function
  bool update_ = true;
};

}  // namespace dynet
