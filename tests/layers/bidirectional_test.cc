#include "dynet-like/io/save.h"
#include "tests/io/folder.h"
#include "tests/layers/cells.h"
#include "tests/support/all_values.h"

namespace bidirectional_test {

using namespace dynet;
using naive::difference;
using naive::numbers;
using naive::Vector;

namespace {

constexpr unsigned kIn = 3, kHidden = 6, kLayers = 2;

template <class Builder>
std::vector<Expression> read(Builder& rnn, const std::vector<Expression>& xs) {
  std::vector<Expression> ys;
  rnn.start_new_sequence();
  for (const Expression& x : xs) ys.push_back(rnn.add_input(x));
  return ys;
}

template <class Builder>
void check_transduce() {
  ParameterCollection pc;
  BiRNNBuilder<Builder> both(kLayers, kIn, kHidden, pc);
  naive::spread(pc);
  CHECK(both.layers() == kLayers);
  ComputationGraph g;
  both.new_graph(g);
  std::vector<Expression> xs;
  for (unsigned t = 0; t < 4; ++t) xs.push_back(input(g, {kIn}, numbers(kIn, t)));
  const std::vector<Expression> ys = both.transduce(xs);
  REQUIRE(ys.size() == 4);
  std::vector<Expression> values = xs;
  for (unsigned l = 0; l < kLayers; ++l) {
    std::vector<Expression> back(values.rbegin(), values.rend());
    const auto f = read(both.forward(l), values), r = read(both.backward(l), back);
    for (unsigned t = 0; t < 4; ++t) values[t] = concatenate({f[t], r[3 - t]});
  }
  for (unsigned t = 0; t < 4; ++t) {
    CHECK(ys[t].dim() == Dim({kHidden}));
    CHECK(difference(values[t], ys[t]) < 1e-6);
  }
  CHECK(both.transduce({}).empty());
  check_slopes(squared_norm(sum(both.transduce(xs))), pc.parameters_list().size());
  // Without update nothing is trained.
  both.new_graph(g, false);
  pc.reset_gradient();
  auto p = pc.add_parameters({kIn});
  g.backward(squared_norm(sum(both.transduce({parameter(g, p)}))));
  for (float x : test::all_gradients(both.get_parameter_collection())) REQUIRE(x == 0);
}

}  // namespace

TEST_CASE("a bidirectional network is two networks, layer by layer") {
  check_transduce<VanillaLSTMBuilder>();
  check_transduce<GRUBuilder>();
  check_transduce<SimpleRNNBuilder>();
  check_transduce<CoupledLSTMBuilder>();
}

TEST_CASE("a padded minibatch through both directions is as its sentences alone") {
  const std::vector<unsigned> lengths{4, 2, 1, 3};
  for (const bool at_start : {false, true}) {
    CAPTURE(at_start);
    ParameterCollection pc;
    BiRNNBuilder<LSTMBuilder> both(kLayers, kIn, kHidden, pc);
    ComputationGraph g;
    both.new_graph(g);
    std::vector<Expression> xs, masks;
    std::vector<std::vector<float>> words;
    for (unsigned t = 0; t < 4; ++t) {
      words.push_back(numbers(4 * kIn, t));
      std::vector<float> mask;
      for (unsigned n : lengths) mask.push_back((at_start ? t >= 4 - n : t < n) ? 1.0f : 0.0f);
      xs.push_back(input(g, Dim({kIn}, 4), words[t]));
      masks.push_back(input(g, Dim({1}, 4), mask));
    }
    const std::vector<Expression> ys = both.transduce(xs, masks);
    const Expression last =
        concatenate({both.forward(1).back(), both.backward(1).back()});  // of the whole sentence
    for (unsigned b = 0; b < 4; ++b) {
      const unsigned first = at_start ? 4 - lengths[b] : 0;
      std::vector<Expression> alone;
      for (unsigned t = first; t < first + lengths[b]; ++t)
        alone.push_back(
            input(g, {kIn}, {words[t].begin() + b * kIn, words[t].begin() + (b + 1) * kIn}));
      const std::vector<Expression> expected = both.transduce(alone);
      for (unsigned t = 0; t < lengths[b]; ++t)
        CHECK(difference(expected[t], pick_batch_elem(ys[first + t], b)) < 1e-6);
      const Expression end = concatenate({both.forward(1).back(), both.backward(1).back()});
      CHECK(difference(end, pick_batch_elem(last, b)) < 1e-6);
    }
  }
}

TEST_CASE("a bidirectional network passes on options, dropout and settings") {
  ParameterCollection pc, other;
  BiRNNBuilder<VanillaLSTMBuilder> both(1, kIn, kHidden, pc, true, 0.5f);
  CHECK(both.forward(0).settings().ln_lstm);
  CHECK(both.backward(0).settings().forget_bias == 0.5f);
  const TemporaryFolder folder;
  save(folder / "m", both.settings(), pc);
  decltype(both)::Settings s;
  BiRNNBuilder<VanillaLSTMBuilder> twin(1, kIn, kHidden, other, true, 0.5f);
  load(folder / "m", s, other);
  ParameterCollection third;
  BiRNNBuilder<VanillaLSTMBuilder> again(third, s);
  again.forward(0).copy(twin.forward(0));
  again.backward(0).copy(twin.backward(0));
  const auto run = [](BiRNNBuilder<VanillaLSTMBuilder>& b, ComputationGraph& g) {
    b.new_graph(g);
    return b.transduce({input(g, {kIn}, numbers(kIn, 1)), input(g, {kIn}, numbers(kIn, 2))});
  };
  ComputationGraph g, h;
  CHECK(as_vector(run(both, g)[0].value()) == as_vector(run(again, h)[0].value()));
  both.set_dropout(0.5f);
  CHECK(naive::drawn(run(both, g)[1]).size() == 4);
  both.set_dropout(0.5f, 0.0f);
  const std::size_t from = g.size();
  CHECK(naive::drawn(run(both, g)[1], from).size() == 2);
  both.disable_dropout();
  const std::size_t last = g.size();
  CHECK(naive::drawn(run(both, g)[1], last).empty());
}

TEST_CASE("a word is made of its characters") {
  ParameterCollection pc, other;
  C2WBuilder words(7, 2, kIn, kHidden, pc);
  naive::spread(pc);
  ComputationGraph g;
  words.new_graph(g);
  const std::vector<unsigned> characters{3, 0, 6, 3};
  const Expression w = words.compose(characters);
  CHECK(w.dim() == Dim({kHidden}));
  naive::State f, r;
  for (std::size_t t = 0; t < 4; ++t) {
    const auto row = [&](unsigned c) { return naive::to_double(as_vector(words.p_lookup.row(c))); };
    f = naive::lstm_step(words.fc2w_rnn, 2, kHidden / 2, 1, f, row(characters[t]));
    r = naive::lstm_step(words.rc2w_rnn, 2, kHidden / 2, 1, r, row(characters[3 - t]));
  }
  CHECK(difference(naive::joined(f.h.back(), r.h.back()), as_vector(w.value())) < 2e-6);
  CHECK(as_vector(words.compose({2}).value()) != as_vector(words.compose({1}).value()));
  check_slopes(squared_norm(w), 13);
  CHECK_THROWS_AS(C2WBuilder(7, 1, 3, 5, pc), ArgumentError);

  const TemporaryFolder folder;
  save(folder / "m", words.settings(), pc);
  C2WBuilder::Settings s;
  C2WBuilder twin(7, 2, kIn, kHidden, other);
  load(folder / "m", s, other);
  CHECK(s.vocab_size == 7);
  ComputationGraph h;
  twin.new_graph(h, false);
  CHECK(as_vector(twin.compose(characters).value()) == as_vector(w.value()));
  other.reset_gradient();
  auto p = other.add_parameters({1}, ParameterInitConst(1.0f));
  h.backward(squared_norm(twin.compose(characters)) + parameter(h, p));
  CHECK(twin.p_lookup.row_gradient(3) == std::vector<float>(kIn, 0.0f));
  twin.set_dropout(0.5f);
  const std::size_t from = h.size();
  CHECK(naive::drawn(twin.compose(characters), from).size() == 8);
  h.clear();
  CHECK_THROWS_AS(twin.compose({1}), StaleExpressionError);
}

}  // namespace bidirectional_test
