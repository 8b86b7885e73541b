#include "dynet-like/layers/recurrent/tree_lstm.h"

#include <algorithm>
#include <string>
#include <utility>

#include "dynet-like/base/errors.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/recurrent.h"
#include "dynet-like/ops/selection.h"

namespace dynet {
namespace {

using nn_detail::fail;

ParameterCollection add_collection(ParameterCollection& model, const char* name,
                                   const TreeLSTMBuilder::Settings& s) {
  if (s.layers == 0) throw ArgumentError(std::string(name) + ": needs at least one layer, got 0");
  return nn_detail::add_collection(model, name, s.layers, s.input_dim, s.hidden_dim);
}

// Checks settings of networks that read children as inputs; sizes must be multiples of `divisor`.
const TreeLSTMBuilder::Settings& one_size(const char* who, const TreeLSTMBuilder::Settings& s,
                                          unsigned divisor) {
  if (s.input_dim != s.hidden_dim || s.hidden_dim % divisor)
    throw ArgumentError(std::string(who) +
                        ": needs one size for inputs and outputs, a multiple of " +
                        std::to_string(divisor) + ", got " + std::to_string(s.input_dim) + " and " +
                        std::to_string(s.hidden_dim));
  return s;
}

// Runs a sequence network over x and the outputs of children; its state is the last step.
template <class Children>
void read(LSTMBuilder& lstm, const Expression* x, const Children& outputs, SourceLocation at) {
  RNNPointer now;
  const auto next = [&](const Expression& e) {
    lstm.add_input(now, e, at);
    now = lstm.state();
  };
  if (x) next(*x);
  for (const Expression& h : outputs) next(h);
}

}  // namespace

TreeLSTMBuilder::TreeLSTMBuilder(const Settings& s, ParameterCollection& model, const char* name)
    : collection_(add_collection(model, name, s)), settings_(s) {}

void TreeLSTMBuilder::new_graph(ComputationGraph& cg, bool update, SourceLocation at) {
  if (settings_.layers == 0)
    fail("new_graph", "the builder was made without arguments and is empty", at);
  std::vector<std::vector<Expression>> nodes;
  for (const std::vector<Parameter>& layer : params) {
    nodes.emplace_back();
    for (const Parameter& p : layer) nodes.back().push_back(nn_detail::put(cg, p, update, at));
  }
  param_vars.swap(nodes);
  ready_ = true;
  reading_ = false;
}

void TreeLSTMBuilder::add(const Dim& d) { params.back().push_back(collection_.add_parameters(d)); }

void TreeLSTMBuilder::add(const Dim& d, float value) {
  params.back().push_back(collection_.add_parameters(d, ParameterInitConst(value)));
}

void TreeLSTMBuilder::start_new_sequence(SourceLocation at) {
  if (!ready_) fail("start_new_sequence", "call new_graph first", at);
  states_.clear();
  limit_ = last_ = -1;
  reading_ = true;
}

void TreeLSTMBuilder::set_num_elements(int n) {
  if (n < 0)
    throw ArgumentError("set_num_elements: needs a number of nodes, got " + std::to_string(n));
  limit_ = n;
}

Expression TreeLSTMBuilder::add_input(int id, const std::vector<int>& children, const Expression& x,
                                      SourceLocation at) {
  const auto number = std::to_string(id);
  if (!reading_) fail("add_input", "call new_graph and start_new_sequence first", at);
  if (id < 0 || (limit_ >= 0 && id >= limit_))
    fail("add_input",
         "there is no node " + number +
             (limit_ < 0 ? ": numbers must not be negative"
                         : " in a tree of " + std::to_string(limit_)),
         at);
  const auto index = static_cast<std::size_t>(id);
  if (index < states_.size() && !states_[index].empty())
    fail("add_input", "there is a node " + number + " already", at);
  for (const int child : children) find("add_input", child, at);
  if (!x.pg && children.empty()) fail("add_input", "a node without children needs an input", at);
  std::vector<Expression> state = compute(children, x.pg ? &x : nullptr, at);
  if (index >= states_.size()) states_.resize(index + 1);
  states_[index] = std::move(state);
  last_ = id;
  return states_[index].back();
}

const std::vector<Expression>& TreeLSTMBuilder::find(const char* who, int id,
                                                     SourceLocation at) const {
  if (!reading_) fail(who, "call new_graph and start_new_sequence first", at);
  if (id < 0 || static_cast<std::size_t>(id) >= states_.size() || states_[id].empty())
    fail(who, "node " + std::to_string(id) + " was not added", at);
  return states_[id];
}

Expression TreeLSTMBuilder::back(SourceLocation at) const { return find("back", last_, at).back(); }

std::vector<Expression> TreeLSTMBuilder::get_s(int id, SourceLocation at) const {
  return find("get_s", id, at);
}

std::vector<Expression> TreeLSTMBuilder::get_h(int id, SourceLocation at) const {
  const std::vector<Expression>& s = find("get_h", id, at);
  return {s.begin() + static_cast<std::ptrdiff_t>(s.size() / 2), s.end()};
}

std::vector<Expression> TreeLSTMBuilder::final_h(SourceLocation at) const {
  return get_h(last_, at);
}

std::vector<Expression> TreeLSTMBuilder::final_s(SourceLocation at) const {
  return get_s(last_, at);
}

void TreeLSTMBuilder::copy(const TreeLSTMBuilder& other) {
  nn_detail::copy_values(other.collection_.parameters_list(), collection_.parameters_list());
}

namespace {

enum : unsigned { kInputGate, kOutputGate, kCandidateGate, kForget, kGates };  // of a node

// Output and cell of one layer, from the sums of the gates and the children's cells.
LSTMCellState cell_of(Expression i, std::vector<Expression> f, Expression o, Expression u,
                      const std::vector<Expression>& c, SourceLocation at) {
  std::vector<Expression> sums{i};
  sums.insert(sums.end(), f.begin(), f.end());
  sums.insert(sums.end(), {o, u});
  return lstm_cell(sums, c, 0, at);
}

}  // namespace

// Parameters of a layer: W and b of each gate; then, for each child, U and V of the gates i and o
// and U of the content; then U and V of f_jk, by j, then k.
NaryTreeLSTMBuilder::NaryTreeLSTMBuilder(ParameterCollection& model, const Settings& s)
    : TreeLSTMBuilder(s, model, "nary-tree-lstm-builder") {
  const unsigned h = s.hidden_dim, n = s.children;
  for (unsigned l = 0; l < s.layers; ++l) {
    params.emplace_back();
    for (unsigned gate = 0; gate < kGates; ++gate) {
      add({h, l == 0 ? s.input_dim : h});
      add({h}, 0.0f);
    }
    for (unsigned k = 0; k < 5 * n + 2 * n * n; ++k) add({h, h});
  }
}

std::vector<Expression> NaryTreeLSTMBuilder::compute(const std::vector<int>& children,
                                                     const Expression* x, SourceLocation at) {
  const unsigned n = settings_.children, layers = settings_.layers;
  if (children.size() > n)
    fail("add_input",
         "a node has at most " + std::to_string(n) + " children, got " +
             std::to_string(children.size()),
         at);
  std::vector<Expression> state(2 * layers);
  Expression below;
  for (unsigned l = 0; l < layers; ++l) {
    const Expression* p = param_vars[l].data();
    const Expression* in = l == 0 ? x : &below;
    const auto start = [&](unsigned gate) {
      std::vector<Expression> terms{p[2 * gate + 1]};
      if (in) terms.insert(terms.end(), {p[2 * gate], *in});
      return terms;
    };
    const auto add_children = [&](std::vector<Expression>& terms, unsigned first, unsigned stride,
                                  bool cells) {
      for (std::size_t k = 0; k < children.size(); ++k) {
        const Expression* u = p + first + k * stride;
        terms.insert(terms.end(), {u[0], state_of(children[k])[layers + l]});
        if (cells) terms.insert(terms.end(), {u[1], state_of(children[k])[l]});
      }
    };
    const auto sums = [&](unsigned gate, unsigned first, unsigned stride) {
      std::vector<Expression> terms = start(gate);
      add_children(terms, first, stride, gate != kCandidateGate);
      return affine_transform(terms, at);
    };
    const unsigned child = 2 * kGates;
    std::vector<Expression> f, c;
    for (std::size_t j = 0; j < children.size(); ++j) {
      f.push_back(sums(kForget, child + 5 * n + 2 * n * static_cast<unsigned>(j), 2));
      c.push_back(state_of(children[j])[l]);
    }
    const LSTMCellState now =
        cell_of(sums(kInputGate, child, 5), f, sums(kOutputGate, child + 2, 5),
                sums(kCandidateGate, child + 4, 5), c, at);
    state[l] = now.c;
    state[layers + l] = below = now.h;
  }
  return state;
}

// Parameters of a layer: W, U and b of each gate.
ChildSumTreeLSTMBuilder::ChildSumTreeLSTMBuilder(ParameterCollection& model, const Settings& s)
    : TreeLSTMBuilder(s, model, "child-sum-tree-lstm-builder") {
  const unsigned h = s.hidden_dim;
  for (unsigned l = 0; l < s.layers; ++l) {
    params.emplace_back();
    for (unsigned gate = 0; gate < kGates; ++gate) {
      add({h, l == 0 ? s.input_dim : h});
      add({h, h});
      add({h}, 0.0f);
    }
  }
}

std::vector<Expression> ChildSumTreeLSTMBuilder::compute(const std::vector<int>& children,
                                                         const Expression* x, SourceLocation at) {
  const unsigned layers = settings_.layers;
  std::vector<Expression> state(2 * layers);
  Expression below;
  for (unsigned l = 0; l < layers; ++l) {
    const Expression* p = param_vars[l].data();
    const Expression* in = l == 0 ? x : &below;
    std::vector<Expression> h, c;
    for (const int child : children) {
      c.push_back(state_of(child)[l]);
      h.push_back(state_of(child)[layers + l]);
    }
    const auto sums = [&](unsigned gate, const Expression* from) {
      std::vector<Expression> terms{p[3 * gate + 2]};
      if (in) terms.insert(terms.end(), {p[3 * gate], *in});
      if (from) terms.insert(terms.end(), {p[3 * gate + 1], *from});
      return affine_transform(terms, at);
    };
    Expression total;
    if (!h.empty()) total = h.size() == 1 ? h[0] : sum(h, at);
    const Expression* all = h.empty() ? nullptr : &total;
    std::vector<Expression> f;
    for (const Expression& each : h) f.push_back(sums(kForget, &each));
    const LSTMCellState now =
        cell_of(sums(kInputGate, all), f, sums(kOutputGate, all), sums(kCandidateGate, all), c, at);
    state[l] = now.c;
    state[layers + l] = below = now.h;
  }
  return state;
}

UnidirectionalTreeLSTMBuilder::UnidirectionalTreeLSTMBuilder(ParameterCollection& model,
                                                             const Settings& s)
    : TreeLSTMBuilder(one_size("UnidirectionalTreeLSTMBuilder", s, 1), model,
                      "unidirectional-tree-lstm-builder"),
      node_builder(s.layers, s.input_dim, s.hidden_dim, collection_) {}

void UnidirectionalTreeLSTMBuilder::new_graph(ComputationGraph& cg, bool update,
                                              SourceLocation at) {
  node_builder.new_graph(cg, update, at);
  TreeLSTMBuilder::new_graph(cg, update, at);
}

void UnidirectionalTreeLSTMBuilder::start_new_sequence(SourceLocation at) {
  TreeLSTMBuilder::start_new_sequence(at);
  node_builder.start_new_sequence({}, at);
}

std::vector<Expression> UnidirectionalTreeLSTMBuilder::compute(const std::vector<int>& children,
                                                               const Expression* x,
                                                               SourceLocation at) {
  std::vector<Expression> outputs;
  for (const int child : children) outputs.push_back(state_of(child).back());
  read(node_builder, x, outputs, at);
  return node_builder.get_s(node_builder.state(), at);
}

BidirectionalTreeLSTMBuilder::BidirectionalTreeLSTMBuilder(ParameterCollection& model,
                                                           const Settings& s)
    : TreeLSTMBuilder(one_size("BidirectionalTreeLSTMBuilder", s, 2), model,
                      "bidirectional-tree-lstm-builder"),
      fwd_node_builder(s.layers, s.input_dim, s.hidden_dim / 2, collection_),
      rev_node_builder(s.layers, s.input_dim, s.hidden_dim / 2, collection_) {}

void BidirectionalTreeLSTMBuilder::new_graph(ComputationGraph& cg, bool update, SourceLocation at) {
  lose_graph();
  fwd_node_builder.new_graph(cg, update, at);
  rev_node_builder.new_graph(cg, update, at);
  TreeLSTMBuilder::new_graph(cg, update, at);
}

void BidirectionalTreeLSTMBuilder::start_new_sequence(SourceLocation at) {
  TreeLSTMBuilder::start_new_sequence(at);
  fwd_node_builder.start_new_sequence({}, at);
  rev_node_builder.start_new_sequence({}, at);
}

std::vector<Expression> BidirectionalTreeLSTMBuilder::compute(const std::vector<int>& children,
                                                              const Expression* x,
                                                              SourceLocation at) {
  std::vector<Expression> outputs;
  for (const int child : children) outputs.push_back(state_of(child).back());
  read(fwd_node_builder, x, outputs, at);
  std::reverse(outputs.begin(), outputs.end());
  read(rev_node_builder, x, outputs, at);
  return {concatenate({fwd_node_builder.back(at), rev_node_builder.back(at)}, 0, at)};
}

}  // namespace dynet
