#pragma once

#include <string>
#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/io/dict.h"
#include "dynet-like/param/parameters.h"

namespace dynet {

/// A layer that gives words, or classes of any kind, probabilities, from a vector `rep` {rep_dim}
/// or a batch of them. `new_graph` comes first; without it the functions throw ArgumentError. After
/// an error the builder is as before.
class SoftmaxBuilder {
 public:
  virtual ~SoftmaxBuilder() = default;

  /// Puts the parameters into the graph; without `update` they get no gradient.
  virtual void new_graph(ComputationGraph& cg, bool update = true,
                         SourceLocation at = SourceLocation::current()) = 0;
  /// -log p(word): {1}.
  Expression neg_log_softmax(const Expression& rep, unsigned word,
                             SourceLocation at = SourceLocation::current());
  /// The same for a batch of words, one for each batch element of `rep` or all for the one there
  /// is: {1} with that batch.
  virtual Expression neg_log_softmax(const Expression& rep, const std::vector<unsigned>& words,
                                     SourceLocation at = SourceLocation::current()) = 0;
  /// A word drawn with its probability, by the graph's seed. Throws ArgumentError for a batch.
  virtual unsigned sample(const Expression& rep, SourceLocation at = SourceLocation::current()) = 0;
  /// log p of every word: {number of words}; minus infinity for words that have no probability.
  virtual Expression full_log_distribution(const Expression& rep,
                                           SourceLocation at = SourceLocation::current()) = 0;
  /// Scores of which `full_log_distribution` is the log_softmax.
  virtual Expression full_logits(const Expression& rep,
                                 SourceLocation at = SourceLocation::current()) = 0;

  /// The collection of its parameters, as long as it lives.
  ParameterCollection& get_parameter_collection() { return collection_; }
  const ParameterCollection& get_parameter_collection() const { return collection_; }

 protected:
  explicit SoftmaxBuilder(ParameterCollection collection) : collection_(std::move(collection)) {}

  ParameterCollection collection_;
};

/// softmax(W rep + b).
class StandardSoftmaxBuilder : public SoftmaxBuilder {
 public:
  /// Arguments of the constructor, to be saved beside the parameters.
  struct Settings {
    /// As in the constructor.
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
  /// Over parameters of other owners: W {classes, rep_dim}, b {classes}. Throws ShapeError.
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

/// Softmax by steps: a tree whose inner nodes each choose one of their children, which are words or
/// further nodes, by a softmax over a matrix of its own; the probability of a word is the product
/// over its path (Goodman 2001, Morin and Bengio 2005). A node with one child costs nothing. What
/// the builders below share.
class TreeSoftmaxBuilder : public SoftmaxBuilder {
 public:
  /// Arguments of the constructor, given or read from a file, to be saved beside the parameters:
  /// they replace the file.
  struct Settings {
    unsigned rep_dim = 0;  ///< size of what is read
    bool bias = true;      ///< whether each node has one
    unsigned words = 0;    ///< of the dictionary
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
  /// Throws ArgumentError for settings that are no tree.
  TreeSoftmaxBuilder(ParameterCollection& model, const char* name, const Settings& s);

  struct Decision {
    unsigned node, choice;
  };
  /// The decisions that lead to a word; nodes with one child are left out. Throws ArgumentError for
  /// a word that is nowhere in the tree.
  const std::vector<Decision>& path(const char* who, unsigned word, SourceLocation at) const;
  /// Scores of a node's children.
  Expression logits(const char* who, unsigned node, const Expression& rep, SourceLocation at) const;

 private:
  Expression all(const char* who, const Expression& rep, bool normalized, SourceLocation at) const;
  void find_paths(unsigned node, std::vector<Decision>& path);
  void need_graph(const char* who, SourceLocation at) const;

  Settings settings_;
  std::vector<Parameter> w_, b_;              // by node; empty for those with one child
  std::vector<std::vector<Decision>> paths_;  // by word
  std::vector<bool> known_;                   // words that the tree has
  std::vector<Expression> w_nodes_, b_nodes_;
  bool ready_ = false;
};

/// p(word) = p(class) p(word | class) (Goodman 2001).
class ClassFactoredSoftmaxBuilder : public TreeSoftmaxBuilder {
 public:
  /// Each line of the file is `CLASS word`, perhaps with a frequency behind; empty lines do not
  /// count. Words are added to the dictionary; those that a frozen one does not know are left out.
  /// Throws FileError, naming the line, for another form, a word that comes twice, or a file
  /// without words.
  ClassFactoredSoftmaxBuilder(unsigned rep_dim, const std::string& cluster_file, Dict& word_dict,
                              ParameterCollection& model, bool bias = true);
  ClassFactoredSoftmaxBuilder(ParameterCollection& model, const Settings& s);

  /// Over the classes, in the order of the file, and over the words of one of them, likewise: log
  /// probabilities and scores.
  Expression class_log_distribution(const Expression& rep,
                                    SourceLocation at = SourceLocation::current());
  Expression class_logits(const Expression& rep, SourceLocation at = SourceLocation::current());
  Expression subclass_log_distribution(const Expression& rep, unsigned clusteridx,
                                       SourceLocation at = SourceLocation::current());
  Expression subclass_logits(const Expression& rep, unsigned clusteridx,
                             SourceLocation at = SourceLocation::current());
};

/// The product of decisions along a path of any length (Morin and Bengio 2005).
class HierarchicalSoftmaxBuilder : public TreeSoftmaxBuilder {
 public:
  /// Each line of the file is the path to a word, from the root, in words of any kind, and then the
  /// word. Otherwise as for ClassFactoredSoftmaxBuilder.
  HierarchicalSoftmaxBuilder(unsigned rep_dim, const std::string& cluster_file, Dict& word_dict,
                             ParameterCollection& model);
  HierarchicalSoftmaxBuilder(ParameterCollection& model, const Settings& s);
};

}  // namespace dynet
