// The network: what its cells compute, their gradients, and what dropout and decay touch.

#include "examples/nlp/treelstm/model.h"
#include "tests/examples/model_checks.h"
#include "tests/layers/naive.h"

namespace treelstm_model_test {

using namespace treelstm;

Tree tree(const std::string& text) { return parse_tree(text, "data.txt", 1); }

Treebank some_trees() {
  return {tree("(3 (2 The) (4 (3 very) (1 best)))"), tree("(1 Bad)"),
          tree("(0 (1 (1 bad) (2 (2 and) (1 worse))) (2 (2 the) (2 end)))")};
}

ModelSettings small(float dropout) { return {6, 5, dropout, false}; }

/// All weights away from where they begin, so that each one counts.
void spread(const dynet::ParameterCollection& collection) {
  unsigned seed = 1;
  for (dynet::Parameter p : collection.parameters_list()) {
    p.set_value(naive::numbers(p.dim().size(), seed++));
  }
}

dynet::Parameter named(const dynet::ParameterCollection& collection, const std::string& name) {
  for (const dynet::Parameter& p : collection.parameters_list()) {
    if (p.get_fullname() == "/" + name) return p;
  }
  FAIL("no parameter " << name);
  return {};
}

Expression loss_of(Model& model, ComputationGraph& graph, const Treebank& trees, bool training) {
  model.begin_graph(graph, training);
  std::vector<Expression> losses;
  for (const Tree& t : trees) losses.push_back(model.loss(graph, t, model.encode(t)));
  return sum(losses);
}

TEST_CASE("Tree-LSTM: the cells compute what the paper says") {
  const unsigned word = 3, hidden = 4;
  dynet::ParameterCollection collection;
  TreeLstm cell(word, hidden, collection);
  spread(collection);
  CHECK(collection.size() == 17);
  const auto w = [&](const std::string& name) { return named(collection, name); };
  const auto gate = [&](const std::string& name, const naive::Vector& sum) {
    naive::Vector values = naive::plus(sum, naive::to_double(as_vector(w(name).values())));
    for (double& v : values) v = name == "bu" ? std::tanh(v) : naive::logistic(v);
    return values;
  };

  ComputationGraph graph;
  cell.begin_graph(graph);
  naive::Vector h[2], c[2];
  TreeLstm::State states[2];
  for (unsigned k = 0; k < 2; ++k) {
    const Floats numbers = naive::numbers(word, 100 + k);
    const naive::Vector x = naive::to_double(numbers);
    states[k] = cell.leaf(dynet::input(graph, {word}, numbers));
    const naive::Vector i = gate("bi", naive::times(w("Wi"), x)),
                        o = gate("bo", naive::times(w("Wo"), x)),
                        u = gate("bu", naive::times(w("Wu"), x));
    for (unsigned n = 0; n < hidden; ++n) {
      c[k].push_back(i[n] * u[n]);
      h[k].push_back(o[n] * std::tanh(c[k][n]));
    }
    CHECK(naive::difference(c[k], as_vector(states[k].c.value())) < 1e-6);
    CHECK(naive::difference(h[k], as_vector(states[k].h.value())) < 1e-6);
  }

  const auto of_children = [&](const std::string& bias, const std::string& u) {
    return gate(bias, naive::plus(naive::times(w(u + "l"), h[0]), naive::times(w(u + "r"), h[1])));
  };
  const naive::Vector i = of_children("bi", "Ui"), o = of_children("bo", "Uo"),
                      u = of_children("bu", "Uu"), f = of_children("bf", "Uf"),
                      g = of_children("bf", "Ug");
  naive::Vector inner_h, inner_c;
  for (unsigned n = 0; n < hidden; ++n) {
    inner_c.push_back(i[n] * u[n] + f[n] * c[0][n] + g[n] * c[1][n]);
    inner_h.push_back(o[n] * std::tanh(inner_c[n]));
  }
  const TreeLstm::State inner = cell.inner(states[0], states[1]);
  CHECK(naive::difference(inner_c, as_vector(inner.c.value())) < 1e-6);
  CHECK(naive::difference(inner_h, as_vector(inner.h.value())) < 1e-6);
}

TEST_CASE("Tree-LSTM: gradients are right, and dropout is for training") {
  const Treebank trees = some_trees();
  Model model(describe(small(0.4f), trees), 7);
  check_training_of(20, [&](auto& graph, bool training) {
    return loss_of(model, graph, trees, training);
  });  // those of the cells, words, and two for the labels
}

TEST_CASE("Tree-LSTM: predictions fit the loss, alone and together") {
  const Treebank trees = some_trees();
  Model model(describe(small(0.4f), trees), 7);
  spread(model.parameters());
  ComputationGraph graph;
  std::vector<Prediction> alone;
  for (const Tree& t : trees) {
    alone.push_back(model.predict(graph, {&t, 1})[0]);
    REQUIRE(alone.back().labels.size() == t.nodes.size());
    const Floats& root = alone.back().root;
    CHECK(std::accumulate(root.begin(), root.end(), 0.0) == Approx(1));
    CHECK(alone.back().labels.back() == std::max_element(root.begin(), root.end()) - root.begin());
  }
  const auto loss = [&](const std::string& text) {
    graph.clear();
    return as_scalar(graph.forward(loss_of(model, graph, {tree(text)}, false)));
  };
  // The loss of the root is what its tree adds to the losses of the trees below.
  const std::string left = "(2 The)", right = "(4 (3 very) (1 best))";
  CHECK(std::exp(-loss("(1 Bad)")) == Approx(alone[1].root[1]).epsilon(1e-4));
  CHECK(std::exp(loss(left) + loss(right) - loss("(3 " + left + " " + right + ")")) ==
        Approx(alone[0].root[3]).epsilon(1e-4));
  const std::vector<Prediction> together = model.predict(graph, trees);
  REQUIRE(together.size() == trees.size());
  for (std::size_t i = 0; i < trees.size(); ++i) {
    CHECK(together[i].labels == alone[i].labels);
    for (unsigned k = 0; k < 5; ++k) {
      CHECK(together[i].root[k] == Approx(alone[i].root[k]).epsilon(1e-5));
    }
  }
  CHECK(model.predict(graph, {}).empty());
}

TEST_CASE("Tree-LSTM: words are known by their letters, unless their case counts") {
  const Treebank trees = some_trees();
  const Tree probe = tree("(2 (2 BAD) (2 never))");
  Model model(describe(small(0), trees), 1);
  CHECK(model.description().words.size() == 1 + 7);
  CHECK(model.encode(trees[1]) == model.encode(tree("(2 bad)")));
  CHECK(model.encode(probe)[0] != 0);
  CHECK(model.encode(probe)[1] == 0);
  ModelSettings with_case = small(0);
  with_case.keep_case = true;
  Model sharp(describe(with_case, trees), 1);
  CHECK(sharp.description().words.size() == 1 + 9);
  CHECK(sharp.encode(trees[1]) != sharp.encode(tree("(2 bad)")));
  CHECK(sharp.encode(probe)[0] == 0);
}

TEST_CASE("Tree-LSTM: weight decay leaves words alone") {
  const Treebank trees = some_trees();
  Model model(describe(small(0), trees), 7);
  model.set_weight_decay(0.25f);
  const dynet::LookupParameter words = model.parameters().lookup_parameters_list()[0];
  const std::vector<dynet::Parameter> weights = model.parameters().parameters_list();
  const Floats word = as_vector(words.row(1));
  const Floats before = as_vector(weights[0].values());
  dynet::SimpleSGDTrainer trainer(model.parameters(), 0.0f);
  trainer.update();
  CHECK(as_vector(words.row(1)) == word);
  const Floats after = as_vector(weights[0].values());
  for (std::size_t i = 0; i < before.size(); ++i) CHECK(after[i] == Approx(0.75f * before[i]));
}

}  // namespace treelstm_model_test
