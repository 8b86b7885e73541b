// Builders have DyNet's parameters in DyNet's order, in files and in `params`; with the same
// numbers they compute what DyNet 2.1 computes.

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dynet/deep-lstm.h"
#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/fast-lstm.h"
#include "dynet/gru.h"
#include "dynet/io.h"
#include "dynet/lstm.h"
#include "dynet/rnn.h"
#include "dynet/treelstm.h"
#include "tests/io/folder.h"
#include "tests/support/catch.h"

namespace builders_test {

using namespace dynet;
using Floats = std::vector<float>;

namespace {

constexpr unsigned kLayers = 2, kIn = 3, kHidden = 4;

struct Known {
  const char* name;
  std::function<std::unique_ptr<RNNBuilder>(ParameterCollection&)> make;
  const char* collection;
  std::vector<const char*> shapes;  // of a layer, as in a file; I is the size of its input
  Floats output;                    // after three steps; empty: not known
  bool masked = false;
};

template <class Builder, class... More>
auto maker(More... more) {
  return [=](ParameterCollection& m) {
    return std::make_unique<Builder>(kLayers, kIn, kHidden, m, more...);
  };
}

// Shapes from files that DyNet 2.1 has written, outputs from what it computes with them.
std::vector<Known> known() {
  const std::vector<const char*> peephole{"{4,I}", "{4,4}", "{4,4}", "{4}",   "{4,I}", "{4,4}",
                                          "{4,4}", "{4}",   "{4,I}", "{4,4}", "{4}"};
  return {
      {"SimpleRNNBuilder",
       maker<SimpleRNNBuilder>(),
       "simple-rnn-builder",
       {"{4,I}", "{4,4}", "{4}"},
       {-0.477356f, -0.307616f, 0.174224f, 0.468477f}},
      {"GRUBuilder",
       maker<GRUBuilder>(),
       "gru-builder",
       {"{4,I}", "{4,4}", "{4}", "{4,I}", "{4,4}", "{4}", "{4,I}", "{4,4}", "{4}"},
       {0.328869f, 0.378312f, 0.127279f, -0.256839f}},
      {"VanillaLSTMBuilder",
       maker<VanillaLSTMBuilder>(),
       "vanilla-lstm-builder",
       {"{16,I}", "{16,4}", "{16}"},
       {-0.139453f, -0.234976f, -0.13096f, 0.171676f}},
      {"normalized VanillaLSTMBuilder",
       maker<VanillaLSTMBuilder>(true),
       "vanilla-lstm-builder",
       {"{16,I}", "{16,4}", "{16}", "{16}", "{16}", "{16}", "{16}", "{4}", "{4}"},
       {0.083905f, 0.37531f, -0.374513f, -0.049566f}},
      {"CompactVanillaLSTMBuilder",
       maker<CompactVanillaLSTMBuilder>(),
       "compact-vanilla-lstm-builder",
       {"{16,I}", "{16,4}", "{16}"},
       {-0.139453f, -0.234976f, -0.13096f, 0.171676f}},
      {"CoupledLSTMBuilder",
       maker<CoupledLSTMBuilder>(),
       "lstm-builder",
       peephole,
       {-0.077076f, -0.220997f, -0.159265f, 0.033234f}},
      {"FastLSTMBuilder",
       maker<FastLSTMBuilder>(),
       "fast-lstm-builder",
       {"{4,I}", "{4,4}", "{4,1}", "{4}", "{4,I}", "{4,4}", "{4,1}", "{4}", "{4,I}", "{4,4}",
        "{4}"},
       {-0.077619f, -0.214818f, -0.152174f, 0.034243f}},
      {"SparseLSTMBuilder",
       maker<SparseLSTMBuilder>(),
       "vanilla-lstm-builder",
       {"{16,I}", "{16,4}", "{16,I}", "{16,4}", "{16}"},
       {0.181877f, 0.232343f, 0.110573f, -0.098269f},
       true},
  };
}

Expression input_at(ComputationGraph& g, int t) {
  Floats x;
  for (int j = 0; j < static_cast<int>(kIn); ++j)
    x.push_back(static_cast<float>(std::cos(3 * t + j)));
  return input(g, {kIn}, x);
}

Floats output(RNNBuilder& b) {
  ComputationGraph g;
  b.new_graph(g);
  b.start_new_sequence();
  for (int t = 0; t < 3; ++t) b.add_input(input_at(g, t));
  return as_vector(b.back().value());
}

void check_near(const Floats& got, const Floats& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).margin(3e-6));
}

}  // namespace

TEST_CASE("builders write their parameters as DyNet does") {
  const TemporaryFolder folder;
  for (const Known& k : known()) {
    INFO(k.name);
    ParameterCollection m;
    const auto b = k.make(m);
    const std::string file = folder / "model.txt";
    TextFileSaver(file).save(m);
    std::ifstream in(file);
    std::vector<std::string> expected, got;
    for (unsigned layer = 0, n = 0; layer < kLayers; ++layer)
      for (std::string shape : k.shapes) {
        if (const auto at = shape.find('I'); at != shape.npos) shape[at] = layer == 0 ? '3' : '4';
        expected.push_back("#Parameter# /" + std::string(k.collection) + "/_" +
                           std::to_string(n++) + " " + shape);
      }
    for (std::string line; std::getline(in, line);)
      if (line[0] == '#') got.push_back(line.substr(0, line.find('}') + 1));
    CHECK(got == expected);
  }
}

TEST_CASE("with DyNet's parameters builders compute what it computes") {
  for (const Known& k : known()) {
    INFO(k.name);
    ParameterCollection m;
    const auto b = k.make(m);
    const auto all = m.parameters_list();
    for (std::size_t p = 0; p < all.size(); ++p) {
      if (k.masked && (p % 5 == 2 || p % 5 == 3)) continue;
      Floats v;
      for (std::size_t j = 0; j < all[p].dim().size(); ++j)
        v.push_back(static_cast<float>(
            0.5 * std::sin(1 + 7 * static_cast<double>(p) + static_cast<double>(j))));
      Parameter(all[p]).set_value(v);
    }
    check_near(output(*b), k.output);
  }
}

TEST_CASE("params and param_vars are what the steps use") {
  for (const Known& k : known()) {
    INFO(k.name);
    ParameterCollection m;
    const auto b = k.make(m);
    const Floats before = output(*b);
    REQUIRE(b->params.size() == kLayers);
    REQUIRE(b->param_vars.size() == kLayers);
    for (unsigned l = 0; l < kLayers; ++l) {
      REQUIRE(b->param_vars[l].size() == b->params[l].size());
      for (const Parameter& p : b->params[l])
        CHECK(p.get_fullname().rfind("/" + std::string(k.collection) + "/", 0) == 0);
    }
    TensorTools::constant(b->params[1][0].p->values, 0.125f);
    CHECK(output(*b) != before);

    // In the place of what stands in the graph.
    ComputationGraph g;
    b->new_graph(g);
    CHECK(b->param_vars[0][1].dim() == b->params[0][1].dim());
    for (auto& layer : b->param_vars)
      for (Expression& e : layer) e = zeros(g, e.dim());
    b->start_new_sequence();
    b->add_input(input_at(g, 0));
    const Floats all_zero = as_vector(b->back().value());
    CHECK(all_zero != before);
    CHECK(std::count(all_zero.begin(), all_zero.end(), all_zero[0]) == 4);
  }
}

TEST_CASE("a step computed from param_vars is the builder's own") {
  ParameterCollection m;
  VanillaLSTMBuilder b(1, kIn, kHidden, m);
  ComputationGraph g;
  b.new_graph(g);
  b.start_new_sequence();
  const Expression x = input_at(g, 0);
  const Expression ours = b.add_input(x);
  const std::vector<Expression>& v = b.param_vars[0];
  const Expression gates = affine_transform({v[2], v[0], x});
  const auto gate = [&](unsigned k) { return pick_range(gates, k * kHidden, (k + 1) * kHidden); };
  const Expression c = cmult(logistic(gate(0)), tanh(gate(3)));
  check_near(as_vector(cmult(logistic(gate(2)), tanh(c)).value()), as_vector(ours.value()));
  g.backward(sum_elems(ours));
  const Floats once = as_vector(b.params[0][0].gradients());
  g.backward(sum_elems(cmult(logistic(gate(2)), tanh(c))));
  const Floats twice = as_vector(b.params[0][0].gradients());
  for (std::size_t i = 0; i < once.size(); ++i) CHECK(twice[i] == Approx(2 * once[i]).margin(1e-6));
}

TEST_CASE("gains and biases of a normalized LSTM by their places in DyNet") {
  ParameterCollection m;
  VanillaLSTMBuilder b(1, kIn, kHidden, m, true);
  REQUIRE(b.ln_params.size() == 1);
  REQUIRE(b.ln_params[0].size() == 6);
  const auto first_step = [&] {
    ComputationGraph g;
    b.new_graph(g);
    REQUIRE(b.ln_param_vars[0].size() == 6);
    b.start_new_sequence();
    return as_vector(b.add_input(input_at(g, 0)).value());
  };
  const Floats before = first_step();
  b.ln_params[0][0].zero();  // the gain of what comes from the output before: there is none yet
  CHECK(first_step() == before);
  b.ln_params[0][2].zero();
  CHECK(first_step() != before);
}

TEST_CASE("trees have params and param_vars too") {
  ParameterCollection m;
  NaryTreeLSTMBuilder tree(2, kLayers, kIn, kHidden, m);
  BidirectionalTreeLSTMBuilder both(1, kHidden, kHidden, m);
  CHECK(both.params.empty());
  REQUIRE(both.fwd_node_builder.params.size() == 1);
  REQUIRE(tree.params.size() == kLayers);
  const auto run = [&](bool replace) {
    ComputationGraph g;
    tree.new_graph(g);
    REQUIRE(tree.param_vars.size() == kLayers);
    CHECK(tree.param_vars[1].size() == tree.params[1].size());
    if (replace) tree.param_vars[0][0] = zeros(g, tree.param_vars[0][0].dim());
    tree.start_new_sequence();
    tree.add_input(0, {}, input_at(g, 0));
    return as_vector(tree.add_input(1, {0}, input_at(g, 1)).value());
  };
  const Floats before = run(false);
  CHECK(run(true) != before);
  tree.params[0][0].zero();
  CHECK(run(false) == run(true));
}

}  // namespace builders_test
