#include "tests/layers/cells.h"

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

TEST_CASE("a bidirectional network passes on options and dropout") {
  ParameterCollection pc;
  BiRNNBuilder<VanillaLSTMBuilder> both(1, kIn, kHidden, pc, true, 0.5f);
  CHECK(both.forward(0).settings().ln_lstm);
  CHECK(both.backward(0).settings().forget_bias == 0.5f);
  const auto draws = [&] {
    ComputationGraph g;
    both.new_graph(g);
    return naive::drawn(both.transduce({input(g, {kIn}, numbers(kIn, 1))})[0]).size();
  };
  both.set_dropout(0.5f);
  CHECK(draws() == 4);
  both.set_dropout(0.5f, 0.0f);
  CHECK(draws() == 2);
  both.disable_dropout();
  CHECK(draws() == 0);
}

TEST_CASE("a word is made of its characters") {
  ParameterCollection pc;
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
  words.set_dropout(0.5f);
  const std::size_t from = g.size();
  CHECK(naive::drawn(words.compose(characters), from).size() == 8);
}

}  // namespace bidirectional_test
