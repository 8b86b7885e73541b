#include <optional>

#include "layers.h"

namespace dynet::python {
namespace {

using namespace nb::literals;
using Lengths = std::vector<unsigned>;

void bind_multi_head_attention(nb::module_& m) {
  nb::class_<KeysValues>(m, "KeysValues", "Keys and values of positions, nodes of a graph.")
      .def_ro("keys", &KeysValues::keys, "{d*key_heads,n}.")
      .def_ro("values", &KeysValues::values, "{d*key_heads,n}.")
      .def("size", &KeysValues::size, "How many positions there are.");
  using S = MultiHeadAttention::Settings;
  using Class = Layer<MultiHeadAttention>;
  auto c = add_layer<MultiHeadAttention>(
      m, "MultiHeadAttention",
      "Attention with heads (Vaswani et al. 2017), d = size / heads:\n"
      "y = Wo concat_h(attention(Wq_h x, Wk_h m, Wv_h m)) + bo,\n"
      "each product with its bias, of the columns of x {size,T} to those of m {memory,n}:\n"
      "{size,T}. A vector is one column. Batch sizes are equal or one. The last query stands\n"
      "beside the last key.",
      "`key_heads`: heads of keys and values, a divisor of `heads`; 0: as many. `memory`: the\n"
      "size of columns of m; 0: `size`. `causal`: queries see no keys behind them. `relative`:\n"
      "trained biases by distance up to this one; 0: none. `rotary`: see `rotary_positions`.\n"
      "ValueError for sizes of 0, and for heads that do not divide each other or the size.",
      needed("size", &S::size), optional("heads", &S::heads), optional("key_heads", &S::key_heads),
      optional("memory", &S::memory), optional("bias", &S::bias), optional("causal", &S::causal),
      optional("relative", &S::relative), optional("rotary", &S::rotary),
      optional("rotary_base", &S::rotary_base));
  c.def(
       "apply",
       [](Class& l, const Expression& x, const std::optional<Expression>& memory,
          const Lengths& key_lengths) {
         return l.in_graph().apply(x, memory.value_or(x), key_lengths, here());
       },
       "x"_a, "memory"_a = nb::none(), "key_lengths"_a = Lengths(),
       "y {size,T}; without `memory` x is its own. `key_lengths`: how many keys each batch\n"
       "element has. ShapeError for other sizes, ValueError for other lengths.")
      .def(
          "remember",
          [](Class& l, const Expression& memory) { return l.in_graph().remember(memory, here()); },
          "memory"_a, "Keys and values of the columns of a memory.")
      .def(
          "remember",
          [](Class& l, const KeysValues& before, const Expression& memory) {
            return l.in_graph().remember(before, memory, here());
          },
          "before"_a, "memory"_a, "The same with positions before them.")
      .def(
          "attend",
          [](Class& l, const Expression& x, const KeysValues& memory, const Lengths& key_lengths) {
            return l.in_graph().attend(x, memory, key_lengths, here());
          },
          "x"_a, "memory"_a, "key_lengths"_a = Lengths(),
          "y for keys and values that are remembered: {size,T}.");
  def_call(c);
}

template <class T>
nb::class_<Layer<T>> add_transformer(nb::module_& m, const char* name, const char* doc,
                                     const char* settings_doc) {
  using S = TransformerSettings;
  auto c = add_layer<T>(m, name, doc, settings_doc, needed("size", &S::size),
                        needed("hidden", &S::hidden), optional("layers", &S::layers),
                        optional("heads", &S::heads), optional("key_heads", &S::key_heads),
                        optional("memory", &S::memory), optional("activation", &S::activation),
                        optional("norm_first", &S::norm_first),
                        optional("final_norm", &S::final_norm), optional("rms_norm", &S::rms_norm),
                        optional("epsilon", &S::epsilon), optional("bias", &S::bias),
                        optional("causal", &S::causal), optional("relative", &S::relative),
                        optional("rotary", &S::rotary), optional("rotary_base", &S::rotary_base));
  def_dropout(
      c,
      "Dropout of what attention and feed-forward layers give, and within the latter, with\n"
      "new masks in each call. ValueError unless 0 <= rate < 1.");
  return c;
}

void bind_encoder(nb::module_& m) {
  auto c = add_transformer<TransformerEncoder>(
      m, "TransformerEncoder",
      "Layers of attention within a sentence and feed-forward layers (Vaswani et al. 2017):\n"
      "h = norm(x + attention(x)), y = norm(h + feed_forward(h)),\n"
      "with `norm_first` h = x + attention(norm(x)), y = h + feed_forward(norm(h)).\n"
      "What tells positions apart is added to x before, or is relative or rotary.",
      "`hidden`: of feed-forward layers, see `FeedForward`. `final_norm`: one more behind the\n"
      "last layer. `rms_norm`: RMSNorm instead of LayerNorm. `memory` is 0. The others are those\n"
      "of `MultiHeadAttention`. ValueError without a layer, and for what the parts refuse.");
  c.def(
      "apply",
      [](Layer<TransformerEncoder>& l, const Expression& x, const Lengths& lengths) {
        return l.in_graph().apply(x, lengths, here());
      },
      "x"_a, "lengths"_a = Lengths(),
      "y {size,T} of x {size,T}, with its batch; a vector is one column. `lengths`: how many\n"
      "columns of each batch element are attended to. ShapeError for other sizes, ValueError for\n"
      "other lengths.");
  def_call(c);
}

void bind_decoder(nb::module_& m) {
  using Class = Layer<TransformerDecoder>;
  nb::class_<DecoderCache>(
      m, "DecoderCache",
      "What a TransformerDecoder has read, nodes of its graph. It never changes: any number\n"
      "of steps may follow it.")
      .def("size", &DecoderCache::size, "How many positions were read.");
  auto c = add_transformer<TransformerDecoder>(
      m, "TransformerDecoder",
      "Layers that read a sentence from left to right, and a memory, such as an encoder's output\n"
      "(Vaswani et al. 2017):\n"
      "g = norm(x + attention(x)), h = norm(g + attention(g, memory)), y = norm(h +\n"
      "feed_forward(h)), or with `norm_first` as in TransformerEncoder.",
      "`memory`: the size of columns of the memory; 0: there is none, a language model. The first\n"
      "attention is always causal. The others are those of `TransformerEncoder`.");
  c.def(
       "apply",
       [](Class& l, const Expression& x, const std::optional<Expression>& memory,
          const Lengths& memory_lengths) {
         const TransformerDecoder& d = l.in_graph();
         return memory ? d.apply(x, *memory, memory_lengths, here()) : d.apply(x, here());
       },
       "x"_a, "memory"_a = nb::none(), "memory_lengths"_a = Lengths(),
       "y {size,T} of a whole sentence x {size,T}, with its batch; a vector is one column. Each\n"
       "batch element has `memory_lengths` columns of memory {memory,n}. ValueError unless there\n"
       "is a memory just where the settings have one; ShapeError.")
      .def(
          "start",
          [](Class& l, const std::optional<Expression>& memory, const Lengths& memory_lengths) {
            const TransformerDecoder& d = l.in_graph();
            return memory ? d.start(*memory, memory_lengths, here()) : d.start(here());
          },
          "memory"_a = nb::none(), "memory_lengths"_a = Lengths(),
          "Before the first position, with the keys and values of a memory.")
      .def(
          "step",
          [](Class& l, const DecoderCache& before, const Expression& x) {
            return l.in_graph().step(before, x, here());
          },
          "before"_a, "x"_a,
          "One or more positions more: (y {size,k}, cache) of x {size,k}, as `apply` gives it for\n"
          "the whole sentence; a vector is one column.");
  def_call(c);
}

}  // namespace

void bind_transformers(nb::module_& m) {
  bind_multi_head_attention(m);
  bind_encoder(m);
  bind_decoder(m);
}

}  // namespace dynet::python
