#pragma once

#include <array>
#include <boost/serialization/version.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "examples/nlp/common/model.h"
#include "examples/nlp/treelstm/evaluate.h"
#include "examples/nlp/treelstm/trees.h"

namespace treelstm {

/// The binary tree-LSTM of Tai, Socher and Manning (ACL 2015), section 3.2 with N = 2, where leaves
/// have words and inner nodes have children, left (l) and right (r):
///
///   leaf   i = s(Wi x + bi)      inner   i = s(Uil hl + Uir hr + bi)
///          o = s(Wo x + bo)              o = s(Uol hl + Uor hr + bo)
///          u = tanh(Wu x + bu)           u = tanh(Uul hl + Uur hr + bu)
///                                        f = s(Ufl hl + Ufr hr + bf),  g = s(Ugl hl + Ugr hr + bf)
///          c = i * u                     c = i * u + f * cl + g * cr
///          h = o * tanh(c)               h = o * tanh(c)
///
/// with s the logistic function and * element by element.
class TreeLstm {
 public:
  /// State that a node passes to its parent.
  struct State {
    dynet::Expression h, c;
  };

  /// The parameters have the names above.
  TreeLstm(unsigned word, unsigned hidden, dynet::ParameterCollection& collection);

  /// Declares the weights in a graph, for the nodes declared after it.
  void begin_graph(dynet::ComputationGraph& graph);
  State leaf(const dynet::Expression& x) const;
  State inner(const State& left, const State& right) const;

 private:
  enum Weight {
    kWi,
    kWo,
    kWu,  // of words
    kUil,
    kUir,
    kUol,
    kUor,
    kUul,
    kUur,
    kUfl,
    kUfr,
    kUgl,
    kUgr,  // of children
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
  unsigned word = 128;    ///< size of a word's vector
  unsigned hidden = 128;  ///< of h and of c
  float dropout = 0.5f;   ///< of words, and of h before the labels
  bool keep_case = false;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& word& hidden& dropout& keep_case;
  }
  void check() const;  ///< see nlp::Checked
};

/// All of a model but its weights: enough to make a model of the same shape.
struct Description {
  ModelSettings settings;
  std::vector<std::string> words;  ///< that have a vector; the first one stands for all others
  Majority majority;
  Labels labels;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    archive& settings& words& majority;
    if (version > 0) {
      archive& labels;
    } else {
      labels = Labels::of_sentiment();  // when there were no others
    }
  }
  void check() const;  ///< see nlp::Checked
};

/// Collects the words of the training trees, which have these labels.
Description describe(const ModelSettings& settings, const Treebank& train,
                     const Labels& labels = Labels::of_sentiment());

/// The word as a model of these settings sees it.
std::string view_of(const std::string& word, const ModelSettings& settings);

/// Words, a tree-LSTM over them, and at every node a softmax over the labels, of V h + a.
class Model : public nlp::DescribedModel<Description> {
 public:
  static constexpr const char* kProgram = "treelstm";  ///< whose files it is saved in

  Model(Description description, const nlp::Start& start);

  /// After every update the weights of the network, not the word vectors, are multiplied by 1 -
  /// `decay`.
  void set_weight_decay(float decay) { network_.set_weight_decay_lambda(decay); }

  /// The numbers of the leaves' words, in the order of the sentence.
  std::vector<unsigned> encode(const Tree& tree) const;

  /// Declares the parameters in an empty graph; trees declared after it share them.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Minus the log-likelihood of the labels, summed over all nodes; `words` are the encoded ones,
  /// of which some may be replaced by 0, the unknown word.
  dynet::Expression loss(dynet::ComputationGraph& graph, const Tree& tree,
                         const std::vector<unsigned>& words);
  /// Predictions for these trees; the trees share a graph, which is cleared before.
  std::vector<Prediction> predict(dynet::ComputationGraph& graph, std::span<const Tree> trees);

 private:
  /// The scores of the labels, by node.
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
