#include "examples/nlp/treelstm/model.h"

#include <algorithm>
#include <utility>

#include "examples/nlp/common/check.h"
#include "examples/nlp/common/share_out.h"
#include "examples/nlp/common/text.h"
#include "examples/nlp/common/vocabulary.h"

namespace treelstm {
namespace {

using dynet::Expression;

/// Names of the weights of a TreeLstm.
constexpr std::array kNames = {"Wi",  "Wo",  "Wu",  "Uil", "Uir", "Uol", "Uor", "Uul", "Uur",
                               "Ufl", "Ufr", "Ugl", "Ugr", "bi",  "bo",  "bu",  "bf"};

constexpr std::size_t kTreesPerGraph = 32;

}  // namespace

TreeLstm::TreeLstm(unsigned word, unsigned hidden, dynet::ParameterCollection& collection) {
  static_assert(kNames.size() == kCount);
  for (std::size_t w = 0; w < kCount; ++w) {
    if (w >= kBi) {
      // Forget gates are open initially, so that the root depends on the leaves.
      const dynet::ParameterInitConst init(w == kBf ? 1.0f : 0.0f);
      weights_[w] = collection.add_parameters({hidden}, init, kNames[w]);
    } else {
      weights_[w] = collection.add_parameters({hidden, w >= kUil ? hidden : word}, kNames[w]);
    }
  }
}

void TreeLstm::begin_graph(dynet::ComputationGraph& graph) {
  for (std::size_t w = 0; w < kCount; ++w) nodes_[w] = parameter(graph, weights_[w]);
}

Expression TreeLstm::leaf_gate(Weight bias, Weight w, const Expression& x) const {
  return dynet::affine_transform({nodes_[bias], nodes_[w], x});
}

Expression TreeLstm::inner_gate(Weight bias, Weight l, Weight r, const State& left,
                                const State& right) const {
  return dynet::affine_transform({nodes_[bias], nodes_[l], left.h, nodes_[r], right.h});
}

TreeLstm::State TreeLstm::leaf(const Expression& x) const {
  return dynet::lstm_cell({leaf_gate(kBi, kWi, x), leaf_gate(kBo, kWo, x), leaf_gate(kBu, kWu, x)},
                          {});
}

TreeLstm::State TreeLstm::inner(const State& left, const State& right) const {
  return dynet::lstm_cell(
      {inner_gate(kBi, kUil, kUir, left, right), inner_gate(kBf, kUfl, kUfr, left, right),
       inner_gate(kBf, kUgl, kUgr, left, right), inner_gate(kBo, kUol, kUor, left, right),
       inner_gate(kBu, kUul, kUur, left, right)},
      {left.c, right.c});
}

std::string view_of(const std::string& word, const ModelSettings& settings) {
  return settings.keep_case ? word : nlp::lower_cased(word);
}

void ModelSettings::check() const {
  nlp::require_size("word size", word);
  nlp::require_size("hidden size", hidden);
  nlp::require_dropout(dropout);
}

void Description::check() const {
  settings.check();
  nlp::require_known_texts("words", words);
  labels.check();
  majority.check(labels.size());
}

Description describe(const ModelSettings& settings, const Treebank& train, const Labels& labels) {
  Description description;
  description.settings = settings;
  description.majority = Majority(train, labels.size());
  description.labels = labels;
  nlp::Collector words;
  for (const Tree& tree : train) {
    for (const Node& node : tree.nodes) {
      if (node.is_leaf()) words.add(view_of(node.word, settings));
    }
  }
  description.words = words.take();
  return description;
}

Model::Model(Description description, const nlp::Start& start)
    : DescribedModel(std::move(description), start),
      dict_(nlp::make_dict(description_.words)),
      network_(parameters_.add_subcollection("network")),
      words_(parameters_.add_lookup_parameters(static_cast<unsigned>(description_.words.size()),
                                               {description_.settings.word}, "words")),
      cell_(description_.settings.word, description_.settings.hidden, network_),
      weight_(network_.add_parameters({description_.labels.size(), description_.settings.hidden},
                                      "label-weight")),
      bias_(network_.add_parameters({description_.labels.size()}, dynet::ParameterInitConst(0),
                                    "label-bias")) {}

std::vector<unsigned> Model::encode(const Tree& tree) const {
  std::vector<unsigned> words;
  for (const Node& node : tree.nodes) {
    if (!node.is_leaf()) continue;
    words.push_back(
        static_cast<unsigned>(dict_.convert(view_of(node.word, description_.settings))));
  }
  return words;
}

void Model::begin_graph(dynet::ComputationGraph& graph, bool training) {
  place(graph);
  training_ = training;
  cell_.begin_graph(graph);
  weight_node_ = parameter(graph, weight_);
  bias_node_ = parameter(graph, bias_);
}

Expression Model::dropped(const Expression& x) const {
  const float rate = description_.settings.dropout;
  return training_ && rate > 0 ? dropout(x, rate) : x;
}

std::vector<Expression> Model::scores(dynet::ComputationGraph& graph, const Tree& tree,
                                      const std::vector<unsigned>& words) const {
  std::vector<TreeLstm::State> states;
  std::vector<Expression> scores;
  std::size_t leaves = 0;
  for (const Node& node : tree.nodes) {
    states.push_back(node.is_leaf() ? cell_.leaf(dropped(lookup(graph, words_, words[leaves++])))
                                    : cell_.inner(states[node.left], states[node.right]));
    scores.push_back(dynet::affine_transform({bias_node_, weight_node_, dropped(states.back().h)}));
  }
  return scores;
}

Expression Model::loss(dynet::ComputationGraph& graph, const Tree& tree,
                       const std::vector<unsigned>& words) {
  std::vector<Expression> losses = scores(graph, tree, words);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    losses[i] = pickneglogsoftmax(losses[i], tree.nodes[i].label);
  }
  return sum(losses);
}

std::vector<Prediction> Model::predict(dynet::ComputationGraph& graph,
                                       std::span<const Tree> trees) {
  std::vector<Prediction> predictions(trees.size());
  if (trees.empty()) return predictions;
  graph.clear();
  begin_graph(graph, false);
  std::vector<Expression> nodes;
  for (const Tree& tree : trees) {
    for (const Expression& score : scores(graph, tree, encode(tree))) {
      nodes.push_back(softmax(score));
    }
  }
  const std::vector<float> values = as_vector(graph.forward(concatenate_to_batch(nodes)));
  nlp::require_scores(values);
  const std::ptrdiff_t labels = description_.labels.size();
  auto at = values.begin();
  for (std::size_t i = 0; i < trees.size(); ++i) {
    for (std::size_t n = 0; n < trees[i].nodes.size(); ++n, at += labels) {
      const auto best = std::max_element(at, at + labels);
      predictions[i].labels.push_back(static_cast<unsigned>(best - at));
    }
    predictions[i].root.assign(at - labels, at);  // the root is the last node
  }
  return predictions;
}

Report evaluate(Model& model, const Treebank& trees, const std::string& name) {
  Report report(name, model.description().labels);
  const auto predictions =
      nlp::predict_in_parts(model, trees, kTreesPerGraph, name, "trees",
                            [](Model& mine, dynet::ComputationGraph& graph,
                               std::span<const Tree> part) { return mine.predict(graph, part); });
  for (std::size_t i = 0; i < trees.size(); ++i) {
    report.add(trees[i], predictions[i], model.description().majority);
  }
  return report;
}

}  // namespace treelstm
