#include "examples/nlp/treelstm/cell.h"

#include <array>
#include <cstddef>

namespace treelstm {

using dynet::Expression;

namespace {

constexpr std::array kNames = {"Wi",  "Wo",  "Wu",  "Uil", "Uir", "Uol", "Uor", "Uul", "Uur",
                               "Ufl", "Ufr", "Ugl", "Ugr", "bi",  "bo",  "bu",  "bf"};

}  // namespace

TreeLstm::TreeLstm(unsigned word, unsigned hidden, dynet::ParameterCollection& collection) {
  static_assert(kNames.size() == kCount);
  for (std::size_t w = 0; w < kCount; ++w) {
    if (w >= kBi) {
      // Forget gates are open at first, so that what the leaves say reaches the root.
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
  const Expression i = logistic(leaf_gate(kBi, kWi, x));
  const Expression o = logistic(leaf_gate(kBo, kWo, x));
  const Expression u = tanh(leaf_gate(kBu, kWu, x));
  const Expression c = cmult(i, u);
  return {cmult(o, tanh(c)), c};
}

TreeLstm::State TreeLstm::inner(const State& left, const State& right) const {
  const Expression i = logistic(inner_gate(kBi, kUil, kUir, left, right));
  const Expression o = logistic(inner_gate(kBo, kUol, kUor, left, right));
  const Expression u = tanh(inner_gate(kBu, kUul, kUur, left, right));
  const Expression f = logistic(inner_gate(kBf, kUfl, kUfr, left, right));
  const Expression g = logistic(inner_gate(kBf, kUgl, kUgr, left, right));
  const Expression c = cmult(i, u) + cmult(f, left.c) + cmult(g, right.c);
  return {cmult(o, tanh(c)), c};
}

}  // namespace treelstm
