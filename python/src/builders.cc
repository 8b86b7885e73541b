#include <string>

#include "recurrent.h"

namespace dynet::python {
namespace {

using namespace nb::literals;

// Sizes of a network in DyNet's `spec`, to be unpacked before the collection.
using Spec = nb::typed<nb::tuple, nb::any, nb::ellipsis>;
template <class B>
Spec spec_of(const B& builder) {
  const auto s = builder.settings();
  if constexpr (requires { s.forget_bias; })
    if constexpr (!std::is_same_v<B, CompactVanillaLSTMBuilder>)
      return Spec(nb::make_tuple(s.layers, s.input_dim, s.hidden_dim, s.ln_lstm, s.forget_bias));
  return Spec(nb::make_tuple(s.layers, s.input_dim, s.hidden_dim));
}

template <class B>
nb::class_<RnnBuilderOf<B>, RnnBuilder> bind_kind(nb::module_& m, const char* name,
                                                  const char* doc) {
  using Kind = RnnBuilderOf<B>;
  nb::class_<Kind, RnnBuilder> kind(m, name, nb::dynamic_attr(), doc);
  kind.def(
      "whoami", [name](const Kind&) { return name; }, "The name of the class.");
  kind.def("__repr__", [name](Kind& b) {
    const auto s = b.get().settings();
    return std::string(name) + "(layers=" + std::to_string(s.layers) +
           ", input_dim=" + std::to_string(s.input_dim) +
           ", hidden_dim=" + std::to_string(s.hidden_dim) + ')';
  });
  kind.def(
      "__copy__", [](Kind& b) { return new Kind(b.get()); },
      "Another one of the same parameters, for another thread: each belongs to one.");
  kind.def_prop_ro(
      "spec", [](Kind& b) { return spec_of(b.get()); },
      "What the constructor was given besides the collection; see `from_spec`.");
  nb::setattr(
      kind, "from_spec",
      nb::module_::import_("builtins")
          .attr("classmethod")(nb::cpp_function(
              [](nb::handle cls, const nb::tuple& spec, const ParameterCollection& model) {
                nb::list arguments(spec);
                arguments.insert(3, nb::cast(model));
                return cls(*arguments);
              },
              nb::name("from_spec"), nb::scope(kind), "cls"_a, "spec"_a, "model"_a,
              nb::sig((std::string("def from_spec(cls, spec: tuple[typing.Any, ...], model: "
                                   "ParameterCollection) -> ") +
                       name)
                          .c_str()),
              "A network of these sizes, with parameters of its own in `model`.")));
  return kind;
}

// Networks constructed from three sizes and a collection.
template <class B>
nb::class_<RnnBuilderOf<B>, RnnBuilder> bind_plain(nb::module_& m, const char* name,
                                                   const char* doc) {
  auto kind = bind_kind<B>(m, name, doc);
  kind.def(
      "__init__",
      [](RnnBuilderOf<B>* self, unsigned layers, unsigned input_dim, unsigned hidden_dim,
         ParameterCollection model) {
        new (self) RnnBuilderOf<B>(layers, input_dim, hidden_dim, model);
      },
      "layers"_a, "input_dim"_a, "hidden_dim"_a, "model"_a);
  return kind;
}

template <class B>
nb::class_<RnnBuilderOf<B>, RnnBuilder> bind_vanilla(nb::module_& m, const char* name,
                                                     const char* doc) {
  auto kind = bind_kind<B>(m, name, doc);
  kind.def(
      "__init__",
      [](RnnBuilderOf<B>* self, unsigned layers, unsigned input_dim, unsigned hidden_dim,
         ParameterCollection model, Flag ln_lstm, float forget_bias) {
        new (self) RnnBuilderOf<B>(layers, input_dim, hidden_dim, model, ln_lstm, forget_bias);
      },
      "layers"_a, "input_dim"_a, "hidden_dim"_a, "model"_a, "ln_lstm"_a = false,
      "forget_bias"_a = 1.0f);
  return kind;
}

// Variational dropout (Gal and Ghahramani 2016).
template <class Class>
void bind_dropouts(Class& kind, const char* recurrent) {
  kind.def(
      "set_dropouts", [](RnnBuilder& b, float d, float d_r) { b->set_dropout(d, d_r); }, "d"_a,
      nb::arg(recurrent),
      "Rates of dropout of the input of each layer and of its previous output, with one mask for\n"
      "each sequence. ValueError unless they are in [0, 1).");
  kind.def(
      "set_dropout_masks",
      [](RnnBuilder& b, unsigned batch_size) {
        // Without a graph the first input makes the masks.
        if (b.graph() != 0 && b.graph() == current_graph().get_id())
          b->set_dropout_masks(batch_size, here());
      },
      "batch_size"_a = 1, "New masks for sequences in minibatches of this size.");
}

template <class B>
void bind_weightnoise(nb::class_<RnnBuilderOf<B>, RnnBuilder>& kind) {
  kind.def(
      "set_weightnoise", [](RnnBuilderOf<B>& b, float std) { b.get().set_weightnoise(std); },
      "std"_a, "Gaussian noise of this deviation on all weights, from the next graph on.");
}

RnnState initial_state(nb::object self, const std::optional<Expressions>& vecs, Flag update) {
  auto& rnn = nb::cast<RnnBuilder&>(self);
  rnn.enter_graph(update);
  const RnnState first(std::move(self), RNNPointer(), rnn.graph());
  return vecs ? first.set_s(*vecs) : first;
}

RnnState initial_state_from_raw_vectors(nb::object self,
                                        const std::vector<std::vector<float>>& vecs, Flag update) {
  Expressions inputs;
  for (const auto& v : vecs)
    inputs.push_back(input(current_graph(), Dim({static_cast<unsigned>(v.size())}), v, {}, here()));
  return initial_state(std::move(self), inputs, update);
}

void bind_base(nb::module_& m) {
  nb::class_<RnnBuilder>(m, "_RNNBuilder", "What all recurrent networks share.")
      .def(
          "set_dropout", [](RnnBuilder& b, float f) { b->set_dropout(f); }, "f"_a,
          "The rate of dropout of inputs and previous outputs. ValueError unless in [0, 1).")
      .def(
          "disable_dropout", [](RnnBuilder& b) { b->disable_dropout(); }, "No dropout any more.")
      .def(
          "initial_state", initial_state, "vecs"_a = nb::none(), "update"_a = true,
          "The state before the first input, in the current graph. `vecs`: the whole state, cells\n"
          "of all layers first, then outputs, or cells alone; without it zeros. Without `update` "
          "the parameters\n"
          "get no gradient; the first call in a graph decides.\n\n"
          ">>> lstm = dy.LSTMBuilder(1, 3, 5, pc)\n"
          ">>> state = lstm.initial_state().add_input(dy.zeros(3))\n"
          ">>> state.output().dim()\n"
          "((5,), 1)")
      .def("initial_state_from_raw_vectors", initial_state_from_raw_vectors, "vecs"_a,
           "update"_a = true, "`initial_state` with the state as lists of numbers.")
      .def(
          "param_collection", [](RnnBuilder& b) { return b->get_parameter_collection(); },
          "The collection of its parameters.")
      .def(
          "get_parameters", [](RnnBuilder& b) { return b->params; },
          "The parameters of each layer: a list of lists.")
      .def(
          "get_parameter_expressions",
          [](RnnBuilder& b) {
            b.need_graph("get_parameter_expressions");
            return b->param_vars;
          },
          "The same in the current graph. ValueError before `initial_state`.");
}

void bind_state(nb::module_& m) {
  using Tuple = nb::typed<nb::tuple, Expression, nb::ellipsis>;
  const auto as_tuple = [](const Expressions& es) { return Tuple(nb::tuple(nb::cast(es))); };
  nb::class_<RnnState>(m, "RNNState",
                       "A step of a sequence: `b.initial_state()`, or what a step before it gives.")
      .def("add_input", &RnnState::add_input, "x"_a, "The state after x {input_dim}.")
      .def("add_masked_input", &RnnState::add_masked_input, "x"_a, "mask"_a,
           "The state after x of a padded minibatch: batch elements where `mask` {1} is 0 keep "
           "their\n"
           "state.")
      .def("add_inputs", &RnnState::add_inputs, "xs"_a,
           "The states after each x of the list: [s.add_input(xs[0]), ...].")
      .def("transduce", &RnnState::transduce, "xs"_a,
           "The outputs after each x of the list: [{hidden_dim}, ...].\n\n"
           ">>> lstm = dy.LSTMBuilder(1, 3, 5, pc)\n"
           ">>> outputs = lstm.initial_state().transduce([dy.zeros(3), dy.ones(3)])\n"
           ">>> [h.dim() for h in outputs]\n"
           "[((5,), 1), ((5,), 1)]")
      .def("transduce_columns", &RnnState::transduce_columns, "xs"_a, "reverse"_a = false,
           "The outputs {hidden_dim,T} after each column of xs {input_dim,T}, read from the last "
           "to the\n"
           "first if `reverse`. A layer of an LSTM is one node; sequences of all lengths run "
           "together.\n\n"
           ">>> lstm = dy.LSTMBuilder(1, 3, 5, pc)\n"
           ">>> lstm.initial_state().transduce_columns(dy.zeros((3, 7))).dim()\n"
           "((5, 7), 1)")
      .def("output", &RnnState::output,
           "The output of the top layer: {hidden_dim}; None for a state of zeros.")
      .def(
          "h", [as_tuple](const RnnState& s) { return as_tuple(s.h()); },
          "The outputs of all layers, a tuple; empty for a state of zeros.")
      .def(
          "s", [as_tuple](const RnnState& s) { return as_tuple(s.s()); },
          "The whole state, a tuple: cells of all layers, then outputs.")
      .def(
          "set_h",
          [](const RnnState& s, const std::optional<Expressions>& es) {
            return s.set_h(es.value_or(Expressions()));
          },
          "es"_a = nb::none(), "A state after this one with these outputs of all layers.")
      .def(
          "set_s",
          [](const RnnState& s, const std::optional<Expressions>& es) {
            return s.set_s(es.value_or(Expressions()));
          },
          "es"_a = nb::none(),
          "A state after this one, given as a whole, or by the cells of all layers alone.")
      .def("prev", &RnnState::prev, "The state before this one; None for the first.")
      .def("b", &RnnState::b, "Its builder.");
}

}  // namespace

void bind_builders(nb::module_& m) {
  bind_base(m);
  bind_state(m);

  auto rnn = bind_plain<SimpleRNNBuilder>(
      m, "SimpleRNNBuilder", "h_t = tanh(Wx x_t + Wh h_{t-1} + b), in layers (Elman 1990).");
  bind_dropouts(rnn, "d_h");
  auto gru = bind_plain<GRUBuilder>(
      m, "GRUBuilder",
      "A gated recurrent unit, in layers (Cho et al. 2014):\n"
      "z = logistic(Wz x_t + Uz h_{t-1} + bz), r = logistic(Wr x_t + Ur h_{t-1} + br),\n"
      "h_t = (1 - z) h_{t-1} + z tanh(Wh x_t + Uh (r h_{t-1}) + bh).");
  bind_dropouts(gru, "d_h");
  auto lstm = bind_vanilla<VanillaLSTMBuilder>(
      m, "VanillaLSTMBuilder",
      "A long short-term memory, in layers (Hochreiter and Schmidhuber 1997, with a forget gate):\n"
      "i, f, o = logistic(Wx x_t + Wh h_{t-1} + b), f with `forget_bias` added, g = tanh(the "
      "same),\n"
      "c_t = i g + f c_{t-1}, h_t = o tanh(c_t). With `ln_lstm` both products and the cell are\n"
      "normalized (Ba, Kiros, Hinton 2016).\n\n"
      ">>> dy.LSTMBuilder(2, 3, 5, pc)\n"
      "VanillaLSTMBuilder(layers=2, input_dim=3, hidden_dim=5)");
  bind_dropouts(lstm, "d_r");
  bind_weightnoise(lstm);
  m.attr("LSTMBuilder") = lstm;
  auto compact = bind_plain<CompactVanillaLSTMBuilder>(m, "CompactVanillaLSTMBuilder",
                                                       "VanillaLSTMBuilder without its options.");
  bind_dropouts(compact, "d_r");
  bind_weightnoise(compact);
  auto sparse = bind_vanilla<SparseLSTMBuilder>(
      m, "SparseLSTMBuilder", "VanillaLSTMBuilder of which small weights are switched off.");
  bind_dropouts(sparse, "d_r");
  sparse.def(
      "set_sparsity",
      [](RnnBuilderOf<SparseLSTMBuilder>& b, float sparsity) { b.get().set_sparsity(sparsity); },
      "sparsity"_a,
      "Switches off this share, in percent, of the weights of each matrix, the smallest ones.");
  auto coupled = bind_plain<CoupledLSTMBuilder>(
      m, "CoupledLSTMBuilder",
      "An LSTM whose input and forget gates add up to one and see the cell, in layers:\n"
      "i = logistic(Wi x_t + Ui h_{t-1} + Vi c_{t-1} + bi),\n"
      "c_t = i tanh(Wc x_t + Uc h_{t-1} + bc) + (1 - i) c_{t-1},\n"
      "o = logistic(Wo x_t + Uo h_{t-1} + Vo c_t + bo), h_t = o tanh(c_t).");
  bind_dropouts(coupled, "d_h");
  auto fast = bind_plain<FastLSTMBuilder>(m, "FastLSTMBuilder",
                                          "CoupledLSTMBuilder whose gates do not see the cell.");
  bind_dropouts(fast, "d_h");
  bind_softmax_builders(m);
}

}  // namespace dynet::python
