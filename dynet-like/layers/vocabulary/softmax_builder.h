#pragma once

#include <string>
#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/param/parameters.h"

namespace dynet {

class Dict;

/// Base of layers that map a vector `rep` {rep_dim}, or a batch of vectors, to probabilities of
/// words, or classes of any kind. `new_graph` must be called first; without it the functions throw
/// ArgumentError. A call that throws leaves the builder unchanged.
class SoftmaxBuilder {
 public:
  virtual ~SoftmaxBuilder() = default;

  /// Adds the parameters to the graph; without `update` they get no gradient.
  virtual void new_graph(ComputationGraph& cg, bool update = true,
                         SourceLocation at = SourceLocation::current()) = 0;
  /// -log p(word): {1}.
  Expression neg_log_softmax(const Expression& rep, unsigned word,
                             SourceLocation at = SourceLocation::current());
  /// -log p(word) for each of several words, one for each batch element of `rep` or all for its
  /// single batch element: {1} for each word, as a batch.
  virtual Expression neg_log_softmax(const Expression& rep, const std::vector<unsigned>& words,
                                     SourceLocation at = SourceLocation::current()) = 0;
  /// A word drawn from p with the graph's seed. Throws ArgumentError for a batch.
  virtual unsigned sample(const Expression& rep, SourceLocation at = SourceLocation::current()) = 0;
  /// log p of every word: {number of words}; minus infinity for words without probability.
  virtual Expression full_log_distribution(const Expression& rep,
                                           SourceLocation at = SourceLocation::current()) = 0;
  /// Scores; their log_softmax is `full_log_distribution`.
  virtual Expression full_logits(const Expression& rep,
                                 SourceLocation at = SourceLocation::current()) = 0;

  /// Collection of the parameters; the reference is valid as long as the builder.
  ParameterCollection& get_parameter_collection() { return collection_; }
  const ParameterCollection& get_parameter_collection() const { return collection_; }

 protected:
  explicit SoftmaxBuilder(ParameterCollection collection) : collection_(std::move(collection)) {}

  ParameterCollection collection_;
};

/// softmax(W rep + b).
class StandardSoftmaxBuilder : public SoftmaxBuilder {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    /// Arguments as in the constructor.
    unsigned rep_dim = 0, num_classes = 0;
    bool bias = true;

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& rep_dim& num_classes& bias;
    }
  };

  StandardSoftmaxBuilder(unsigned rep_dim, unsigned num_classes, ParameterCollection& model,
                         bool bias = true)
      : StandardSoftmaxBuilder(model, {rep_dim, num_classes, bias}) {}
  StandardSoftmaxBuilder(ParameterCollection& model, const Settings& s);
  /// Uses existing parameters W {classes, rep_dim} and b {classes}. Throws ShapeError.
  StandardSoftmaxBuilder(Parameter W, Parameter b);
  explicit StandardSoftmaxBuilder(Parameter W);
  /// Arguments of the constructor.
  Settings settings() const;

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
  Parameter w_, b_;  // b_ may be empty
  Expression w_node_, b_node_;
};

/// Base of tree softmax: at each inner node of a tree a softmax with its own matrix chooses a
/// child, which is a word or another node; the probability of a word is the product over its path
/// (Goodman 2001, Morin and Bengio 2005). Nodes with one child have no parameters.
class TreeSoftmaxBuilder : public SoftmaxBuilder {
 public:
  /// Arguments of the constructor or contents of the cluster file, to be saved with the parameters;
  /// a builder made from settings needs no file.
  struct Settings {
    unsigned rep_dim = 0;  ///< size of `rep`
    bool bias = true;      ///< whether nodes have a bias
    unsigned words = 0;    ///< number of words in the dictionary
    std::vector<std::vector<int>>
        choices;  ///< by node: a word, or -n for node n; node 0 is the root

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& rep_dim& bias& words& choices;
    }
  };
  /// Settings to be stored in a file and passed to `TreeSoftmaxBuilder`.
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

 protected:
  /// Throws ArgumentError for settings that do not form a tree.
  TreeSoftmaxBuilder(ParameterCollection& model, const char* name, const Settings& s);

  struct Decision {
    unsigned node, choice;
  };
  /// The decisions on the path to a word, without nodes with one child. Throws ArgumentError for a
  /// word that is not in the tree.
  const std::vector<Decision>& path(const char* who, unsigned word, SourceLocation at) const;
  /// Scores of the children of a node.
  Expression logits(const char* who, unsigned node, const Expression& rep, SourceLocation at) const;

 private:
  Expression all(const char* who, const Expression& rep, bool normalized, SourceLocation at) const;
  void find_paths(unsigned node, std::vector<Decision>& path);
  void need_graph(const char* who, SourceLocation at) const;

  Settings settings_;
  std::vector<Parameter> w_, b_;              // by node; empty for nodes with one child
  std::vector<std::vector<Decision>> paths_;  // by word
  std::vector<bool> known_;                   // whether the tree has each word
  std::vector<Expression> w_nodes_, b_nodes_;
  bool ready_ = false;
};

/// p(word) = p(class) p(word | class) (Goodman 2001).
class ClassFactoredSoftmaxBuilder : public TreeSoftmaxBuilder {
 public:
  /// Each line of the file is `CLASS word`, optionally followed by a frequency; empty lines are
  /// ignored. Words are added to the dictionary; words that a frozen dictionary does not have are
  /// left out. Throws FileError, which names the line, for another form, a repeated word, or a file
  /// without words.
  ClassFactoredSoftmaxBuilder(unsigned rep_dim, const std::string& cluster_file, Dict& word_dict,
                              ParameterCollection& model, bool bias = true);
  ClassFactoredSoftmaxBuilder(ParameterCollection& model, const Settings& s);

  /// Log-probabilities and scores over the classes, in the order of the file, and over the words of
  /// class `clusteridx`, in the order of the file.
  Expression class_log_distribution(const Expression& rep,
                                    SourceLocation at = SourceLocation::current());
  Expression class_logits(const Expression& rep, SourceLocation at = SourceLocation::current());
  Expression subclass_log_distribution(const Expression& rep, unsigned clusteridx,
                                       SourceLocation at = SourceLocation::current());
  Expression subclass_logits(const Expression& rep, unsigned clusteridx,
                             SourceLocation at = SourceLocation::current());
};

/// Product of decisions along a path of any length (Morin and Bengio 2005).
class HierarchicalSoftmaxBuilder : public TreeSoftmaxBuilder {
 public:
  /// Each line of the file is the path to a word from the root, as names, and then the word; all
  /// other rules are those of ClassFactoredSoftmaxBuilder.
  HierarchicalSoftmaxBuilder(unsigned rep_dim, const std::string& cluster_file, Dict& word_dict,
                             ParameterCollection& model);
  HierarchicalSoftmaxBuilder(ParameterCollection& model, const Settings& s);
};

}  // namespace dynet
