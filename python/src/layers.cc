#include "layers.h"

#include <nanobind/stl/tuple.h>

// Layers on columns, embeddings, pair scorers, and copy mechanism.

namespace dynet::python {
namespace {

using namespace nb::literals;
using List = std::vector<std::int64_t>;

void bind_columns(nb::module_& m) {
  using S = Linear::Settings;
  auto linear = add_layer<Linear>(
      m, "Linear",
      "y = W x + b for each column of x.\n\n"
      ">>> linear = dy.Linear(pc, input=3, output=2)\n"
      ">>> linear(dy.zeros(3)).dim(), linear(dy.zeros((3, 5))).dim()\n"
      "(((2,), 1), ((2, 5), 1))",
      "W {output,input} begins with Glorot's initializer, b {output} with 0. ValueError for a\n"
      "size of 0.",
      needed("input", &S::input), needed("output", &S::output), optional("bias", &S::bias));
  def_apply(linear,
            "y: {input} gives {output}, {input,T} gives {output,T}, with the batch of x.\n"
            "ShapeError for another size.");
  using N = LayerNorm::Settings;
  auto layer_norm = add_layer<LayerNorm>(
      m, "LayerNorm",
      "y = g (x - mean) / sqrt(variance + epsilon) + b for each column of x (Ba, Kiros, Hinton\n"
      "2016), variance = sum_i (x_i - mean)^2 / size.",
      "g {size} begins with 1, b {size} with 0. ValueError for a size of 0, and for an epsilon\n"
      "that is negative or not finite.",
      needed("size", &N::size), optional("bias", &N::bias), optional("epsilon", &N::epsilon));
  const char* const same =
      "y: {size} or {size,T}, as x, with its batch. ShapeError for another size.";
  def_apply(layer_norm, same);
  using R = RMSNorm::Settings;
  auto rms_norm = add_layer<RMSNorm>(
      m, "RMSNorm",
      "y = g x / sqrt(sum_i x_i^2 / size + epsilon) for each column of x (Zhang, Sennrich 2019).",
      "g {size} begins with 1. ValueError for a size of 0, and unless epsilon is finite and\n"
      "above 0.",
      needed("size", &R::size), optional("epsilon", &R::epsilon));
  def_apply(rms_norm, same);
  using F = FeedForward::Settings;
  auto feed_forward = add_layer<FeedForward>(
      m, "FeedForward",
      "Two layers with an activation between them, for each column of x:\n"
      "\"relu\", \"gelu\":  y = W2 a(W1 x + b1) + b2,\n"
      "\"swiglu\":  y = W2 (silu(V x + c) * (W1 x + b1)) + b2,  silu(z) = z / (1 + e^-z).",
      "W1 and V are {hidden,size}, W2 {size,hidden}. ValueError for a size of 0, and for another\n"
      "activation.",
      needed("size", &F::size), needed("hidden", &F::hidden),
      optional("activation", &F::activation), optional("bias", &F::bias));
  def_apply(feed_forward, same);
  def_dropout(feed_forward,
              "Dropout of what W2 reads, with a new mask in each call. ValueError unless 0 <=\n"
              "rate < 1.");
}

void bind_embedding(nb::module_& m) {
  using S = Embedding::Settings;
  auto c = add_layer<Embedding>(
      m, "Embedding",
      "A table of a vector for each word, which also tells which word a vector h means: E h are\n"
      "the scores of all words (Press and Wolf 2017).\n\n"
      ">>> embedding = dy.Embedding(pc, words=10, size=3)\n"
      ">>> embedding([7, 2, 2, 1]).dim()\n"
      "((3, 4), 1)",
      "`words` rows of this size. ValueError for a size of 0.", needed("words", &S::words),
      needed("size", &S::size));
  c.def(
       "apply",
       [](Layer<Embedding>& l, const List& sentence) {
         return l.in_graph().apply(indices_of("apply", sentence), here());
       },
       "sentence"_a,
       "The vectors of T words as columns: {size,T}. ValueError for none, IndexError for a word\n"
       "that there is not.")
      .def(
          "logits",
          [](Layer<Embedding>& l, const Expression& h) { return l.in_graph().logits(h, here()); },
          "h"_a, "E h: {size} gives {words}, {size,T} gives {words,T}, with the batch of h.")
      .def(
          "table", [](Layer<Embedding>& l) { return l.get().table(); }, "The table.");
  def_call(c);
}

void bind_positions(nb::module_& m) {
  m.def(
      "sinusoidal_positions",
      [](unsigned size, unsigned count, unsigned first) {
        return sinusoidal_positions(current_graph(), size, count, first, here());
      },
      "size"_a, "count"_a, "first"_a = 0,
      "Constants {size,count} to be added to columns (Vaswani et al. 2017): rows 2i and 2i+1 of\n"
      "position p are sin and cos of p / 10000^(2i/size). ValueError for a size or count of 0.");
  m.def(
      "rotary_positions",
      [](const Expression& x, unsigned heads, int first, float base) {
        return rotary_positions(x, heads, first, base, here());
      },
      "x"_a, "heads"_a, "first"_a = 0, "base"_a = 10000.0f,
      "The columns of x {d*heads,T} turned by their positions first, first+1, ... (Su et al.\n"
      "2021): numbers i and i+d/2 of a head are a pair (x, y) that becomes (x cos a - y sin a,\n"
      "y cos a + x sin a), a = p / base^(2i/d). ShapeError unless rows are heads of an even\n"
      "size.");
  using S = LearnedPositions::Settings;
  auto c = add_layer<LearnedPositions>(
      m, "LearnedPositions", "A trained vector for each of a limited number of positions.",
      "ValueError for a size of 0.", needed("positions", &S::positions), needed("size", &S::size));
  c.def(
      "apply",
      [](Layer<LearnedPositions>& l, unsigned count, unsigned first) {
        return l.in_graph().apply(count, first, here());
      },
      "count"_a, "first"_a = 0,
      "The vectors of positions first, first+1, ...: {size,count}. ValueError for\n"
      "none, and for more than there are.");
  def_call(c);
}

void bind_char_cnn(nb::module_& m) {
  using S = CharCnn::Settings;
  auto c = add_layer<CharCnn>(
      m, "CharCnn",
      "A word from its characters (Kim et al. 2016): for each width w\n"
      "y_w = tanh(max_t (b_w + sum_(k<w) F_wk x_(t+k))), y = [y_w1; y_w2; ...],\n"
      "where x_t is the vector of character t, and then highway layers\n"
      "y <- y + g * (max(W y + b, 0) - y), g = logistic(V y + c).",
      "`filters` of each width, `highways` layers behind them. ValueError for a size or a width\n"
      "of 0, and without a width.",
      needed("characters", &S::characters), needed("character_size", &S::character_size),
      needed("filters", &S::filters), optional("widths", &S::widths),
      optional("highways", &S::highways));
  c.def(
       "apply",
       [](Layer<CharCnn>& l, const List& word) {
         return l.in_graph().apply(indices_of("apply", word), here());
       },
       "word"_a,
       "y {filters*widths} of the word of these characters. ValueError for none, IndexError for\n"
       "one that there is not.")
      .def(
          "table", [](Layer<CharCnn>& l) { return l.get().table(); }, "The vectors of characters.");
  def_call(c);
  def_dropout(c, "Dropout of y, with a new mask in each call. ValueError unless 0 <= rate < 1.");
}

void bind_c2w(nb::module_& m) {
  using S = C2WBuilder::Settings;
  auto c = add_layer<C2WBuilder>(
      m, "C2WBuilder",
      "A word from its characters (Ling et al. 2015): the last outputs of two LSTMs, one of which\n"
      "reads the vectors of the characters backwards.",
      "`vocab_size` characters with vectors {input_dim}. ValueError unless `hidden_dim` is even\n"
      "and there is a layer.",
      needed("vocab_size", &S::vocab_size), needed("layers", &S::layers),
      needed("input_dim", &S::input_dim), needed("hidden_dim", &S::hidden_dim));
  c.def(
       "compose",
       [](Layer<C2WBuilder>& l, const List& characters) {
         return l.in_graph().compose(indices_of("compose", characters), here());
       },
       "characters"_a,
       "The word {hidden_dim} of these characters. ValueError for none, IndexError for one that\n"
       "there is not.")
      .def(
          "table", [](Layer<C2WBuilder>& l) { return l.get().p_lookup; },
          "The vectors of characters.");
  nb::setattr(c, "__call__", c.attr("compose"));
  def_dropout(c,
              "Dropout of inputs and previous outputs of both LSTMs, one mask for each word.\n"
              "ValueError unless 0 <= rate < 1.");
}

void bind_biaffine(nb::module_& m) {
  using S = BiaffineScorer::Settings;
  auto c = add_layer<BiaffineScorer>(
      m, "BiaffineScorer",
      "Scores of pairs of a head h and a dependent d (Dozat and Manning 2017), for each of\n"
      "`outputs` kinds k of pair: s_k(h, d) = h' U_k d + u_k' h + v_k' d + b_k.",
      "`heads` and `dependents` are the sizes of vectors; without `dependent_bias` v and b are\n"
      "left out. ValueError for a size of 0.",
      needed("heads", &S::heads), needed("dependents", &S::dependents),
      optional("outputs", &S::outputs), optional("dependent_bias", &S::dependent_bias));
  c.def(
       "all_pairs",
       [](Layer<BiaffineScorer>& l, const Expressions& heads, const Expressions& dependents) {
         return l.in_graph().all_pairs(heads, dependents, here());
       },
       "heads"_a, "dependents"_a,
       "The scores of all pairs, for one kind: {number of heads, number of dependents}.\n"
       "ValueError for an empty list, and for several kinds.")
      .def(
          "pair",
          [](Layer<BiaffineScorer>& l, const Expression& head, const Expression& dependent) {
            return l.in_graph().pair(head, dependent, here());
          },
          "head"_a, "dependent"_a, "The scores of one pair: {outputs}.");
}

void bind_losses_of_nn(nb::module_& m) {
  m.def(
      "label_smoothed_loss",
      [](const Expression& scores, const OneOrMore& classes, float smoothing) {
        if (const auto* one = std::get_if<std::int64_t>(&classes))
          return label_smoothed_loss(scores, indices_of("label_smoothed_loss", {*one})[0],
                                     smoothing, here());
        return label_smoothed_loss(
            scores, indices_of("label_smoothed_loss", std::get<List>(classes)), smoothing, here());
      },
      "scores"_a, "classes"_a, "smoothing"_a,
      "-log p with label smoothing (Szegedy et al. 2016), scores {n}, e = smoothing:\n"
      "(1 - e) (-log p_v) + e/n sum_c (-log p_c), p = softmax(scores): {1}. `classes`: v, or one\n"
      "for each batch element. ValueError unless 0 <= e <= 1, IndexError for another class.");
}

void bind_copying(nb::module_& m) {
  using S = CopyGate::Settings;
  auto c = add_layer<CopyGate>(m, "CopyGate",
                               "The gate of a pointer-generator network, gate = w' x + b, for\n"
                               "`copy_log_prob`.",
                               "`size`: of x. ValueError for 0.", needed("size", &S::size));
  def_apply(c, "gate {1}. ShapeError for another size.");
  m.def(
      "copy_log_prob",
      [](const Expression& gate, const Expression& scores, const Expression& attention,
         const std::vector<List>& sources, const List& targets) {
        std::vector<std::vector<unsigned>> numbers;
        for (const List& s : sources) numbers.push_back(indices_of("copy_log_prob", s));
        return copy_log_prob(gate, scores, attention, numbers, indices_of("copy_log_prob", targets),
                             here());
      },
      "gate"_a, "scores"_a, "attention"_a, "sources"_a, "targets"_a,
      "log p(w) of words that may be copied from a source (See, Liu, Manning 2017): {1},\n"
      "p(w) = g p_v(w) + (1 - g) sum of a_i over all i with source_i = w,\n"
      "g = logistic(gate), p_v = softmax(scores), a = softmax(attention): gate {1}, scores\n"
      "{words}, attention {n}. Words that the vocabulary has not get numbers from `words` on.\n"
      "`sources`: of each batch element, or one for all; `targets`: a word for each. ValueError\n"
      "for other numbers of them, and for a source that is empty or longer than `attention`;\n"
      "ShapeError.");
  m.def(
      "copy_log_distribution",
      [](const Expression& gate, const Expression& scores, const Expression& attention,
         const List& source, unsigned others) {
        return copy_log_distribution(gate, scores, attention,
                                     indices_of("copy_log_distribution", source), others, here());
      },
      "gate"_a, "scores"_a, "attention"_a, "source"_a, "others"_a = 0,
      "log p of all words and of `others` numbers behind them, see `copy_log_prob`:\n"
      "{words+others}.");
}

}  // namespace

void bind_layers_of_nn(nb::module_& m) {
  bind_columns(m);
  bind_embedding(m);
  bind_positions(m);
  bind_char_cnn(m);
  bind_c2w(m);
  bind_biaffine(m);
  bind_losses_of_nn(m);
  bind_copying(m);
}

}  // namespace dynet::python
