#pragma once

#include <cstdint>
#include <vector>

#include "dynet-like/layers/vocabulary/softmax_builder.h"

namespace dynet {

/// Classes that were drawn to stand for all others, see SampledSoftmaxBuilder.
struct NegativeSamples {
  std::vector<unsigned> classes;    ///< may come twice
  std::vector<float> log_expected;  ///< log of how often each was to be expected
};

/// softmax(E rep + b), as StandardSoftmaxBuilder gives it, with losses for training whose cost does
/// not depend on the number of classes. E and b are tables: only the rows that a loss reads get a
/// gradient, and trainers that go by rows update no others.
///
/// Classes are drawn from a proposal q: by `weights`, which may be counts or powers of them
/// (Mikolov et al. 2013), or without weights log-uniformly, for classes that are numbered by
/// frequency, the most frequent one 0:
///
///     q(c) = log((c + 2) / (c + 1)) / log(num_classes + 1)
///
/// `neg_log_softmax`, `full_log_distribution`, `full_logits` and `sample` are exact, and read all
/// rows.
class SampledSoftmaxBuilder : public SoftmaxBuilder {
 public:
  /// Arguments of the constructor, to be saved beside the parameters.
  struct Settings {
    unsigned rep_dim = 0;             ///< size of what is read
    unsigned num_classes = 0;         ///< how many there are
    unsigned samples = 100;           ///< negatives of a loss
    std::vector<float> weights = {};  ///< of the proposal, one for each class; none: log-uniform
    bool bias = true;                 ///< b

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& rep_dim& num_classes& samples& weights& bias;
    }
  };

  /// Throws ArgumentError for a size, classes or samples of zero, for another number of weights
  /// than classes, and for a weight that is not above zero or not finite. E begins as lookup
  /// parameters do, b with -log(num_classes): e^score is about a probability from the start, as
  /// `nce_loss` wants it, and a softmax sees no difference.
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

  /// `samples` classes drawn from q with replacement: the same for the same key.
  NegativeSamples draw(std::uint64_t key) const;
  /// log of how often a class is to be expected among `samples`: log(samples q(c)). Throws
  /// IndexError for no class.
  double log_expected(unsigned c, SourceLocation at = SourceLocation::current()) const;

  /// The loss of a softmax over the class and the negatives N, each corrected by how often it is to
  /// be expected (Jean, Cho, Memisevic, Bengio 2015, "On using very large target vocabulary for
  /// neural machine translation"):
  ///
  ///     -log(e^u_w / (e^u_w + sum_{c in N, c != w} e^u_c)),   u_c = E_c rep + b_c - log(k q(c))
  ///
  /// with k = `samples`. Words as in `neg_log_softmax`; the negatives are drawn for all of them
  /// together, by the graph's seed. {1} with the batch of words.
  Expression sampled_loss(const Expression& rep, const std::vector<unsigned>& words,
                          SourceLocation at = SourceLocation::current());
  /// The same with negatives and corrections that are given, for words too: with every class once,
  /// and corrections of zero, it is `neg_log_softmax`. Throws ArgumentError without negatives and
  /// for other numbers of corrections, IndexError for a class that there is not.
  Expression sampled_loss(const Expression& rep, const std::vector<unsigned>& words,
                          const NegativeSamples& negatives,
                          const std::vector<float>& words_log_expected,
                          SourceLocation at = SourceLocation::current());
  /// Noise-contrastive estimation (Gutmann and Hyvarinen 2010; Mnih and Teh 2012): whether a class
  /// comes from the data or from q,
  ///
  ///     -log s(u_w) - sum_{c in N} log s(-u_c),   s(x) = 1 / (1 + e^-x)
  ///
  /// with u as above. Scores learn to be log-probabilities without normalization. Otherwise as
  /// `sampled_loss`.
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
  std::vector<double> sums_;  // of weights, up to each class
  LookupParameter table_, biases_;
  Expression in_graph_;              // any node
  Expression matrix_, bias_vector_;  // of all classes, when they were needed
  bool update_ = true;
};

}  // namespace dynet
