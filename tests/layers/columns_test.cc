// RNNBuilder::transduce_columns against steps, one by one.
#include "tests/layers/cells.h"
#include "tests/ops/sequences.h"

namespace columns_test {

using namespace dynet;
using naive::numbers;

namespace {

constexpr unsigned kIn = 3, kHidden = 4;

std::vector<float> bits(const Expression& e) { return as_vector(e.value()); }

// The columns of a matrix, with all batch elements of each.
std::vector<std::vector<float>> columns(const Expression& xs) {
  std::vector<std::vector<float>> all;
  for (unsigned t = 0; t < xs.dim().cols(); ++t) all.push_back(bits(pick(xs, t, 1)));
  return all;
}

// Outputs, states and gradients of a network for T columns, at once and one by one.
void check(RNNBuilder& rnn, ParameterCollection& pc, unsigned batch, bool reverse, bool state,
           unsigned length = 5) {
  CAPTURE(batch, reverse, state, length);
  std::vector<std::vector<float>> outputs[2], states[2];
  std::vector<float> gradients[2];
  for (const bool at_once : {false, true}) {
    ComputationGraph g;
    rnn.new_graph(g);
    std::vector<Expression> h0;
    for (unsigned k = 0; state && k < rnn.num_h0_components(); ++k)
      h0.push_back(input(g, Dim({kHidden}, batch), numbers(kHidden * batch, 90 + k)));
    rnn.start_new_sequence(h0);
    if (state) rnn.add_input(input(g, Dim({kIn}, batch), numbers(kIn * batch, 80)));
    const RNNPointer before = rnn.state();
    const Expression xs =
        input(g, Dim({kIn, length}, batch), numbers(std::size_t{kIn} * length * batch, 7));
    Expression ys;
    if (at_once) {
      ys = rnn.transduce_columns(xs, reverse);
      CHECK(rnn.state() == before + 1);
      CHECK(rnn.get_head(rnn.state()) == before);
    } else {
      std::vector<Expression> all(length);
      for (unsigned k = 0; k < length; ++k) {
        const unsigned t = reverse ? length - 1 - k : k;
        all[t] = rnn.add_input(pick(xs, t, 1));
      }
      ys = concatenate_cols(all);
    }
    outputs[at_once] = columns(ys);
    for (const Expression& e : rnn.final_s()) states[at_once].push_back(bits(e));
    CHECK(bits(rnn.back()) == outputs[at_once][reverse ? 0 : length - 1]);
    outputs[at_once].push_back(bits(rnn.add_input(pick(xs, 0, 1))));  // it goes on from there
    Expression loss = sum_batches(squared_norm(ys)) + sum_batches(squared_norm(rnn.back()));
    for (const Expression& e : rnn.final_s()) loss = loss + sum_batches(sum_elems(e));
    const GradientReport report = check_gradients(loss);
    INFO(report);
    CHECK(report.ok());
    pc.reset_gradient();
    g.backward(loss);
    for (const Parameter& p : pc.parameters_list())
      if (const float* const d = p.gradients() ? p.gradients()->v : nullptr)
        gradients[at_once].insert(gradients[at_once].end(), d, d + p.dim().size());
  }
  CHECK(outputs[0] == outputs[1]);
  CHECK(states[0] == states[1]);
  REQUIRE(gradients[0].size() == gradients[1].size());
  for (std::size_t i = 0; i < gradients[0].size(); ++i)
    CHECK(gradients[0][i] == Approx(gradients[1][i]).epsilon(1e-4).margin(1e-5));
}

/// The outputs for columns, at once or one by one.
std::vector<std::vector<float>> read(RNNBuilder& rnn, const Expression& xs, bool at_once) {
  if (at_once) return columns(rnn.transduce_columns(xs));
  std::vector<std::vector<float>> outputs;
  for (unsigned t = 0; t < xs.dim().cols(); ++t)
    outputs.push_back(bits(rnn.add_input(pick(xs, t, 1))));
  return outputs;
}

template <class Builder, class... Options>
void check_all(unsigned layers, Options... options) {
  ParameterCollection pc;
  Builder rnn(layers, kIn, kHidden, pc, options...);
  naive::spread(pc);
  for (const unsigned batch : {1u, 3u})
    for (const bool reverse : {false, true})
      for (const bool state : {false, true}) check(rnn, pc, batch, reverse, state);
  check(rnn, pc, 2, true, true, 1);
}

}  // namespace

TEST_CASE("columns of a matrix are read as steps, by networks of all kinds") {
  check_all<VanillaLSTMBuilder>(1);
  check_all<VanillaLSTMBuilder>(2, false, 0.5f);
  check_all<VanillaLSTMBuilder>(2, true);
  check_all<CompactVanillaLSTMBuilder>(2);
  check_all<SparseLSTMBuilder>(1);
  check_all<GRUBuilder>(2);
  check_all<SimpleRNNBuilder>(2);
  check_all<CoupledLSTMBuilder>(2);
  check_all<DeepLSTMBuilder>(2);
}

TEST_CASE("columns are dropped out by the masks of the sequence") {
  for (const float of_outputs : {0.0f, 0.5f}) {
    ParameterCollection pc;
    VanillaLSTMBuilder rnn(2, kIn, kHidden, pc);
    naive::spread(pc);
    rnn.set_dropout(0.4f, of_outputs);
    const auto run = [&](bool at_once) {
      ComputationGraph g;
      g.set_seed(5);
      rnn.new_graph(g);
      rnn.start_new_sequence();
      rnn.set_dropout_masks(2);
      return read(rnn, input(g, Dim({kIn, 6}, 2), numbers(kIn * 12, 3)), at_once);
    };
    CHECK(run(true) == run(false));
  }
}

TEST_CASE("a bidirectional network reads columns as vectors") {
  ParameterCollection pc;
  BiRNNBuilder<VanillaLSTMBuilder> both(2, kIn, 2 * kHidden, pc);
  naive::spread(pc);
  ComputationGraph g;
  CHECK_THROWS_AS(both.transduce_columns(zeros(g, {kIn, 1})), ArgumentError);
  both.new_graph(g);
  const Expression xs = input(g, {kIn, 4}, numbers(kIn * 4, 2));
  std::vector<Expression> vectors;
  for (unsigned t = 0; t < 4; ++t) vectors.push_back(pick(xs, t, 1));
  CHECK(bits(both.transduce_columns(xs)) == bits(concatenate_cols(both.transduce(vectors))));
  const std::vector<float> last = bits(both.backward(1).back());
  both.transduce_columns(xs);
  CHECK(bits(both.backward(1).back()) == last);
}

TEST_CASE("an LSTM over sentences of all lengths is one batch, and the same bits alone") {
  constexpr unsigned kSentences = 20;
  ParameterCollection pc;
  VanillaLSTMBuilder ahead(1, kIn, kHidden, pc), behind(1, kIn, kHidden, pc);
  naive::spread(pc);
  // Inputs and norms of each length, their sums in both directions, and all sequences together.
  test::Sentences all{.shared = pc.parameters_list(), .batches = 4 * 13 + 4};
  all.own.resize(kSentences);
  all.build = [&](ComputationGraph& g, unsigned n) {
    const Expression x = input(g, {kIn, 1 + n * 7 % 13}, numbers(kIn * (1 + n * 7 % 13), n));
    std::vector<Expression> both;
    for (VanillaLSTMBuilder* const rnn : {&ahead, &behind}) {
      rnn->new_graph(g);
      rnn->start_new_sequence();
      both.push_back(rnn->transduce_columns(x, rnn == &behind));
    }
    return both;
  };
  all.loss = [](const std::vector<Expression>& y) {
    return squared_norm(y[0]) + squared_norm(y[1]);
  };
  check_alone_and_together(pc, all);
}

TEST_CASE("columns without a batch follow a state or a matrix with one, step by step") {
  for (const bool of_state : {false, true}) {
    CAPTURE(of_state);
    ParameterCollection pc;
    VanillaLSTMBuilder rnn(1, kIn, kHidden, pc);
    naive::spread(pc);
    const auto run = [&](bool at_once) {
      ComputationGraph g;
      rnn.new_graph(g);
      if (!of_state)
        rnn.param_vars[0][1] =
            cmult(rnn.param_vars[0][1], input(g, Dim({1}, 2), std::vector<float>{1, 0.5f}));
      rnn.start_new_sequence();
      if (of_state) rnn.add_input(input(g, Dim({kIn}, 2), numbers(kIn * 2, 1)));
      return read(rnn, input(g, {kIn, 3}, numbers(kIn * 3, 2)), at_once);
    };
    auto steps = run(false);
    const auto at_once = run(true);
    if (!of_state) steps[0] = at_once[0];  // the first step has no product
    CHECK(steps == at_once);
  }
}

TEST_CASE("columns in bf16 have the values of steps in bf16") {
  ParameterCollection pc;
  VanillaLSTMBuilder rnn(1, 24, 40, pc);
  const std::vector<float> words = numbers(24 * 6, 4);
  const auto run = [&](Precision precision, bool at_once) {
    ComputationGraph g;
    g.set_precision(precision);
    rnn.new_graph(g);
    rnn.start_new_sequence();
    return read(rnn, input(g, {24, 6}, words), at_once);
  };
  const auto rounded = run(Precision::bf16, true), exact = run(Precision::float32, true);
  CHECK(rounded == run(Precision::bf16, false));
  for (std::size_t t = 0; t < 6; ++t)
    for (std::size_t i = 0; i < 40; ++i) CHECK(rounded[t][i] == Approx(exact[t][i]).margin(0.01));
}

TEST_CASE("no columns leave the state as it is; a refused matrix changes nothing") {
  ParameterCollection pc;
  VanillaLSTMBuilder lstm(1, kIn, kHidden, pc);
  DeepLSTMBuilder deep(2, kIn, kHidden, pc);
  for (RNNBuilder* const rnn : {static_cast<RNNBuilder*>(&lstm), static_cast<RNNBuilder*>(&deep)}) {
    ComputationGraph g;
    CHECK_THROWS_AS(rnn->transduce_columns(zeros(g, {kIn, 2})), ArgumentError);
    rnn->new_graph(g);
    rnn->start_new_sequence();
    const Expression none = rnn->transduce_columns(zeros(g, Dim({kIn, 0}, 2)));
    CHECK(none.dim() == Dim({rnn == &deep ? 2 * kHidden : kHidden, 0}, 2));
    CHECK(none.value().d.size() == 0);
    CHECK(rnn->state() == -1);
    rnn->transduce_columns(zeros(g, {kIn, 2}));
    const RNNPointer state = rnn->state();
    for (const Dim& wrong : {Dim({kIn + 1, 2}), Dim({kIn, 2, 2})})
      CHECK_THROWS_AS(rnn->transduce_columns(zeros(g, wrong)), ArgumentError);
    CHECK_THROWS_AS(
        rnn->transduce_columns(zeros(g, Dim({kIn, 2}, 2)) * 1.0f + zeros(g, Dim({kIn, 1}, 3))),
        ShapeError);
    CHECK_THROWS_AS(rnn->transduce_columns(RNNPointer(7), zeros(g, {kIn, 2})), ArgumentError);
    CHECK(rnn->state() == state);
    CHECK(rnn->transduce_columns(RNNPointer(-1), zeros(g, {kIn, 3})).dim().cols() == 3);
    CHECK(rnn->get_head(rnn->state()) == -1);
  }
}

}  // namespace columns_test
