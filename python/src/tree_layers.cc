#include "layers.h"

// Networks over stacks and trees.

namespace dynet::python {
namespace {

using namespace nb::literals;

void bind_stack_lstm(nb::module_& m) {
  nb::class_<RNNStack>(m, "RNNStack",
                       "A stack whose content a network has read, from the bottom to the top:\n"
                       "see `StackLSTM`.")
      .def(
          "push", [](RNNStack& s, const Expression& x) { s.push(x, here()); }, "x"_a,
          "Puts x {input}, or a batch, on top.")
      .def(
          "pop", [](RNNStack& s) { s.pop(here()); },
          "Takes off what was pushed last. ValueError if there is nothing.")
      .def(
          "top", [](const RNNStack& s) { return s.top(here()); },
          "The network's output for all that is on the stack: {hidden}; trained for an empty one.")
      .def("empty", &RNNStack::empty, "Whether nothing is on it.")
      .def("__len__", &RNNStack::size)
      .def("__bool__", [](const RNNStack& s) { return !s.empty(); })
      .def(
          "copy", [](const RNNStack& s) { return RNNStack(s); },
          "One that goes its own way, as the hypotheses of a beam do, and shares what was read.")
      .def("__copy__", [](const RNNStack& s) { return RNNStack(s); });
  using S = StackLSTM::Settings;
  auto c = add_layer<StackLSTM>(
      m, "StackLSTM",
      "Stacks that an LSTM reads (Dyer et al. 2015): with a step f and a trained vector b,\n"
      "h(empty) = f(0, b), h(S, x) = f(h(S), x), top(S) = output(h(S)).",
      "`input`: the size of what is pushed; `hidden`: of outputs. ValueError for a size of 0.",
      needed("layers", &S::layers), needed("input", &S::input), needed("hidden", &S::hidden));
  c.def(
      "start", [](Layer<StackLSTM>& l) { return l.in_graph().start(here()); },
      "An empty stack of the current graph.");
  def_dropout(c,
              "Dropout of stacks that are started from now on, one mask for each of them and its\n"
              "copies. ValueError unless 0 <= rate < 1.");
}

template <class B>
void bind_tree_lstm(nb::class_<Layer<B>>& c) {
  using Class = Layer<B>;
  c.def(
       "start_new_sequence", [](Class& l) { l.in_graph().start_new_sequence(here()); },
       "Begins a tree, forgetting all nodes.")
      .def(
          "add_input",
          [](Class& l, int id, const std::vector<int>& children,
             const std::optional<Expression>& x) {
            return l.in_graph().add_input(id, children, x.value_or(Expression()), here());
          },
          "id"_a, "children"_a, "x"_a = nb::none(),
          "The node `id`, any number that is not taken, over nodes that were added before: its\n"
          "output {hidden_dim}. x {input_dim} may be left out if there are children. ValueError\n"
          "before `start_new_sequence`.")
      .def(
          "get_h", [](Class& l, int id) { return l.in_graph().get_h(id, here()); }, "id"_a,
          "The outputs of all layers of a node.")
      .def(
          "get_s", [](Class& l, int id) { return l.in_graph().get_s(id, here()); }, "id"_a,
          "Its whole state: cells, then outputs.");
}

}  // namespace

void bind_trees_of_nn(nb::module_& m) {
  bind_stack_lstm(m);
  using S = TreeLSTMBuilder::Settings;
  auto sum = add_layer<ChildSumTreeLSTMBuilder>(
      m, "ChildSumTreeLSTMBuilder",
      "The child-sum tree-LSTM (Tai, Socher, Manning 2015), s = sum_k h_k over any number of\n"
      "children: i = logistic(Wi x + Ui s + bi), o likewise, f_k = logistic(Wf x + Uf h_k + bf),\n"
      "c = i tanh(Wu x + Uu s + bu) + sum_k f_k c_k, h = o tanh(c).",
      "ValueError unless there is a layer.", needed("layers", &S::layers),
      needed("input_dim", &S::input_dim), needed("hidden_dim", &S::hidden_dim));
  bind_tree_lstm(sum);
  auto nary = add_layer<NaryTreeLSTMBuilder>(
      m, "NaryTreeLSTMBuilder",
      "The N-ary tree-LSTM (Tai, Socher, Manning 2015) with gates that see the cells: at most\n"
      "`children` children, that have places of their own.",
      "ValueError unless there is a layer.", needed("layers", &S::layers),
      needed("input_dim", &S::input_dim), needed("hidden_dim", &S::hidden_dim),
      needed("children", &S::children));
  bind_tree_lstm(nary);
  auto one_way = add_layer<UnidirectionalTreeLSTMBuilder>(
      m, "UnidirectionalTreeLSTMBuilder",
      "An LSTM over sequences that reads a node's x and then the outputs of its children.",
      "ValueError unless there is a layer and `input_dim` is `hidden_dim`.",
      needed("layers", &S::layers), needed("input_dim", &S::input_dim),
      needed("hidden_dim", &S::hidden_dim));
  bind_tree_lstm(one_way);
  auto both_ways = add_layer<BidirectionalTreeLSTMBuilder>(
      m, "BidirectionalTreeLSTMBuilder",
      "Two of `UnidirectionalTreeLSTMBuilder`, of half the size each, of which one reads the\n"
      "children from the last to the first; the output is that of both, one after the other.",
      "ValueError unless there is a layer and `input_dim` is `hidden_dim`, an even number.",
      needed("layers", &S::layers), needed("input_dim", &S::input_dim),
      needed("hidden_dim", &S::hidden_dim));
  bind_tree_lstm(both_ways);
}

}  // namespace dynet::python
