#pragma once

#include <array>

#include "dynet-like/dynet.h"

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
  /// What a node passes to its parent.
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

}  // namespace treelstm
