#pragma once

#include <array>
#include <boost/serialization/version.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "dynet-like/io/dict.h"
#include "examples/nlp/common/model.h"
#include "examples/nlp/treelstm/evaluate.h"
#include "examples/nlp/treelstm/trees.h"

namespace treelstm {

/// Binary tree-LSTM of Tai, Socher and Manning (ACL 2015), section 3.2 with N = 2, where leaves
/// have words and inner nodes have a left (l) and a right (r) child:
///
///   leaf   i = s(Wi x + bi)      inner   i = s(Uil hl + Uir hr + bi)
///          o = s(Wo x + bo)              o = s(Uol hl + Uor hr + bo)
///          u = tanh(Wu x + bu)           u = tanh(Uul hl + Uur hr + bu)
///                                        f = s(Ufl hl + Ufr hr + bf),  g = s(Ugl hl + Ugr hr + bf)
///          c = i * u                     c = i * u + f * cl + g * cr
///          h = o * tanh(c)               h = o * tanh(c)
///
/// where s is the logistic function and * is elementwise.
class TreeLstm {
 public:
  /// State of a node, passed to its parent.
  using State = dynet::LSTMCellState;

  /// Parameters are named as above.
  TreeLstm(unsigned word, unsigned hidden, dynet::ParameterCollection& collection);

  /// Declares the weights in a graph, for the nodes declared after it.
  void begin_graph(dynet::ComputationGraph& graph);
  State leaf(const dynet::Expression& x) const;
  State inner(const State& left, const State& right) const;

 private:
  enum Weight {
    kWi,
    kWo,
    kWu,  // input weights above
    kUil,
    kUir,
    kUol,
    kUor,
    kUul,
    kUur,
    kUfl,
    kUfr,
    kUgl,
    kUgr,  // child weights above
    kBi,
    kBo,
    kBu,
    kBf,
    kCount
  };

  dynet::Expression leaf_gate(Weight bias, Weight w, const dynet::Expression& x) const;
  dynet::Expression inner_gate(Weight bias, Weight l, Weight r, const State& left,
                               const State& right) const;

  std::array<dynet::Parameter, kCount> weights_;
  std::array<dynet::Expression, kCount> nodes_;  ///< of the current graph
};

/// The shape of a model.
struct ModelSettings {
  unsigned word = 128;    ///< size of a word vector
  unsigned hidden = 128;  ///< size of h and c
  float dropout = 0.5f;   ///< of words, and of h before the output layer
  bool keep_case = false;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& word& hidden& dropout& keep_case;
  }
  void check() const;  ///< see nlp::Checked
};

/// Everything of a model except the weights; determines its shape.
struct Description {
  ModelSettings settings;
  std::vector<std::string> words;  ///< with a vector; the first is the unknown word
  Majority majority;
  Labels labels;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    archive& settings& words& majority;
    if (version > 0) {
      archive& labels;
    } else {
      labels = Labels::of_sentiment();  // default of version 0
    }
  }
  void check() const;  ///< see nlp::Checked
};

/// Collects the words of the training trees, which have these labels.
Description describe(const ModelSettings& settings, const Treebank& train,
                     const Labels& labels = Labels::of_sentiment());

/// Normalized word for a model with these settings.
std::string view_of(const std::string& word, const ModelSettings& settings);

/// Word vectors, a tree-LSTM over them, and at every node a softmax over the labels, of V h + a.
class Model : public nlp::DescribedModel<Description> {
 public:
  static constexpr const char* kProgram = "treelstm";  ///< program name in its files
  static constexpr const char* kUse = "classify";      ///< command that a new model is for

  Model(Description description, const nlp::Start& start);

  /// Multiplies the weights of the network, except word vectors, by 1 - `decay` after every update.
  void set_weight_decay(float decay) { network_.set_weight_decay_lambda(decay); }

  /// Numbers of the leaves' words, in sentence order.
  std::vector<unsigned> encode(const Tree& tree) const;

  /// Declares the parameters in an empty graph; trees declared after it share them.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Negative log-likelihood of the labels, summed over all nodes; `words` are encoded and may
  /// contain 0, the unknown word, in place of hidden words.
  dynet::Expression loss(dynet::ComputationGraph& graph, const Tree& tree,
                         const std::vector<unsigned>& words);
  /// Predictions for these trees; all share one graph, which is cleared first.
  std::vector<Prediction> predict(dynet::ComputationGraph& graph, std::span<const Tree> trees);

 private:
  /// Scores of the labels, by node.
  std::vector<dynet::Expression> scores(dynet::ComputationGraph& graph, const Tree& tree,
                                        const std::vector<unsigned>& words) const;
  dynet::Expression dropped(const dynet::Expression& x) const;

  dynet::Dict dict_;
  dynet::ParameterCollection network_;
  dynet::LookupParameter words_;
  TreeLstm cell_;
  dynet::Parameter weight_, bias_;
  // State of the current graph.
  bool training_ = false;
  dynet::Expression weight_node_, bias_node_;
};

/// Scores the model and the trivial classifier.
Report evaluate(Model& model, const Treebank& trees, const std::string& name);

}  // namespace treelstm

BOOST_CLASS_VERSION(treelstm::Description, 1)
