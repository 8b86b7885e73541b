// GRU and the LSTMs beside the standard one, and what all recurrent networks can do.

#include "tests/layers/naive_transformer.h"

namespace cells_test {

using namespace dynet;
using naive::difference;
using naive::element;
using naive::initial_state;
using naive::numbers;
using naive::State;
using naive::Vector;

namespace {

constexpr unsigned kIn = 3, kHidden = 4;

using Step = std::function<State(const RNNBuilder&, unsigned layers, const State&, const Vector& x,
                                 const naive::CellMasks&)>;

struct Network {
  std::string name;
  std::function<std::unique_ptr<RNNBuilder>(unsigned layers, ParameterCollection&)> make;
  Step step;
  unsigned components = 2;
  bool deep = false;
  unsigned outputs(unsigned layers) const { return deep ? layers * kHidden : kHidden; }
};

template <class Builder>
std::unique_ptr<RNNBuilder> make(unsigned layers, ParameterCollection& pc) {
  return std::make_unique<Builder>(layers, kIn, kHidden, pc);
}

Step peephole(bool blind, bool deep) {
  return [=](const RNNBuilder& b, unsigned layers, const State& s, const Vector& x,
             const naive::CellMasks& m) {
    return naive::peephole_step(b, layers, kHidden, blind, deep, s, x, m);
  };
}

State vanilla(const RNNBuilder& b, unsigned layers, const State& s, const Vector& x,
              const naive::CellMasks& m) {
  const auto& lstm = dynamic_cast<const VanillaLSTMBuilder&>(b);
  const auto bias = static_cast<double>(lstm.settings().forget_bias);
  return naive::lstm_step(lstm, layers, kHidden, bias, s, x, m);
}

std::vector<Network> kinds() {
  const Step rnn = [](const RNNBuilder& b, unsigned layers, const State& s, const Vector& x,
                      const naive::CellMasks& m) {
    return naive::rnn_step(dynamic_cast<const SimpleRNNBuilder&>(b), layers, kHidden, false, s, x,
                           {}, m);
  };
  const Step gru = [](const RNNBuilder& b, unsigned layers, const State& s, const Vector& x,
                      const naive::CellMasks& m) {
    return naive::gru_step(b, layers, kHidden, s, x, m);
  };
  return {{"SimpleRNN", make<SimpleRNNBuilder>, rnn, 1},
          {"VanillaLSTM", make<VanillaLSTMBuilder>, vanilla},
          {"VanillaLSTM, forget bias -0.5",
           [](unsigned layers, ParameterCollection& pc) {
             return std::make_unique<VanillaLSTMBuilder>(layers, kIn, kHidden, pc, false, -0.5f);
           },
           vanilla},
          {"CompactVanillaLSTM", make<CompactVanillaLSTMBuilder>, vanilla},
          {"CoupledLSTM", make<CoupledLSTMBuilder>, peephole(false, false)},
          {"FastLSTM", make<FastLSTMBuilder>, peephole(true, false)},
          {"DeepLSTM", make<DeepLSTMBuilder>, peephole(false, true), 2, true},
          {"GRU", make<GRUBuilder>, gru, 1}};
}

Vector output(const Network& kind, const State& s) {
  Vector y = kind.deep ? Vector() : s.h.back();
  if (kind.deep)
    for (const Vector& h : s.h) y = naive::joined(y, h);
  return y;
}

}  // namespace

TEST_CASE("every recurrent network computes what its paper says") {
  for (const Network& kind : kinds())
    for (const unsigned layers : {1u, 2u, 3u})
      for (const unsigned batch : {1u, 3u})
        for (const bool initial : {false, true}) {
          CAPTURE(kind.name, layers, batch, initial);
          ParameterCollection pc;
          const auto rnn = kind.make(layers, pc);
          naive::spread(pc);
          CHECK(rnn->num_h0_components() == kind.components * layers);
          ComputationGraph g(batch > 1);
          rnn->new_graph(g);
          std::vector<State> states(batch);
          std::vector<Expression> h0;
          if (initial) h0 = initial_state(g, kind.components, layers, kHidden, false, states);
          rnn->start_new_sequence(h0);
          if (initial) CHECK(rnn->back().dim() == Dim({kind.outputs(layers)}, batch));
          for (unsigned t = 0; t < 4; ++t) {
            const auto x = numbers(kIn * batch, 200 + t);
            const Expression y = rnn->add_input(input(g, Dim({kIn}, batch), x));
            CHECK(y.dim() == Dim({kind.outputs(layers)}, batch));
            CHECK(rnn->back().i == y.i);
            for (unsigned b = 0; b < batch; ++b) {
              states[b] = kind.step(*rnn, layers, states[b], element(x, kIn, b), {});
              CHECK(difference(output(kind, states[b]), element(y, b)) < 2e-6);
              const auto h = rnn->final_h(), s = rnn->final_s();
              REQUIRE(h.size() == layers);
              REQUIRE(s.size() == kind.components * layers);
              for (unsigned l = 0; l < layers; ++l) {
                CHECK(difference(states[b].h[l], element(h[l], b)) < 2e-6);
                CHECK(h[l].i == s[s.size() - layers + l].i);
                if (kind.components == 2)
                  CHECK(difference(states[b].c[l], element(s[l], b)) < 2e-6);
              }
            }
          }
        }
}

TEST_CASE("gradients of every recurrent network are the slopes of the loss") {
  for (const Network& kind : kinds())
    for (const bool dropout : {false, true}) {
      CAPTURE(kind.name, dropout);
      ParameterCollection pc;
      const auto rnn = kind.make(2, pc);
      naive::spread(pc);
      const std::size_t own = pc.parameters_list().size();
      auto table = pc.add_lookup_parameters(5, {kIn}, ParameterInitNormal(0, 1));
      auto mask = pc.add_parameters({1}, ParameterInitConst(0.5f));
      auto h0 = pc.add_parameters({kHidden}, ParameterInitNormal(0, 1));
      if (dropout) rnn->set_dropout(0.3f, 0.4f);
      ComputationGraph g;
      g.set_seed(5);
      rnn->new_graph(g);
      std::vector<Expression> start(rnn->num_h0_components(), parameter(g, h0));
      start[1] = tanh(start[1]);
      rnn->start_new_sequence(start);
      std::vector<Expression> losses;
      for (unsigned t = 0; t < 4; ++t) {
        const Expression x = lookup(g, table, std::vector<unsigned>{t, 4});
        const Expression y =
            t == 2 ? rnn->add_masked_input(x, parameter(g, mask)) : rnn->add_input(x);
        losses.push_back(sum_batches(squared_norm(y)) + sum_batches(pick(y, t)));
      }
      // Only part of what was computed matters; also a cell.
      losses.push_back(sum_batches(sum_elems(rnn->get_s(RNNPointer(2))[1])));
      const GradientReport report = check_gradients(sum(losses), {.max_elements = 0});
      INFO(report);
      CHECK(report.parameters == own + 3);
      CHECK(report.elements == pc.parameter_count());
      CHECK(report.ok());
    }
}

TEST_CASE("dropout of every recurrent network uses one mask for the whole sequence") {
  for (const Network& kind : kinds()) {
    CAPTURE(kind.name);
    const unsigned layers = 2;
    ParameterCollection pc;
    const auto rnn = kind.make(layers, pc);
    naive::spread(pc);
    auto* peepholes = dynamic_cast<PeepholeLSTMBuilder*>(rnn.get());
    const std::vector<float> rates{0.4f, 0.3f, 0.2f};
    if (peepholes)
      peepholes->set_dropout(rates[0], rates[1], rates[2]);
    else
      rnn->set_dropout(rates[0], rates[1]);
    ComputationGraph g;
    g.set_seed(3);
    rnn->new_graph(g);
    rnn->start_new_sequence();
    std::vector<Expression> outputs;
    for (unsigned t = 0; t < 4; ++t)
      outputs.push_back(rnn->add_input(input(g, {kIn}, numbers(kIn, t))));
    const std::vector<Vector> drawn = naive::drawn(outputs.back());
    const std::size_t each = peepholes ? 3 : 2;
    REQUIRE(drawn.size() == layers * each);
    naive::CellMasks masks;
    for (unsigned l = 0; l < layers; ++l)
      for (std::size_t k = 0; k < each; ++k) {
        const Vector& m = drawn[l * each + k];
        for (const double x : m)
          CHECK((x == 0 || x == Approx(1 / (1 - static_cast<double>(rates[k])))));
        (k == 0 ? masks.input : k == 1 ? masks.output : masks.cell).push_back(m);
      }
    State s;
    for (unsigned t = 0; t < 4; ++t) {
      s = kind.step(*rnn, layers, s, naive::to_double(numbers(kIn, t)), masks);
      CHECK(difference(output(kind, s), as_vector(outputs[t].value())) < 2e-6);
    }
    rnn->start_new_sequence();
    const std::vector<Vector> next =
        naive::drawn(rnn->add_input(input(g, {kIn}, numbers(kIn, 1))), g.size());
    CHECK(next.size() == drawn.size());
    CHECK(next != drawn);
    rnn->disable_dropout();
    const std::size_t before = g.size();
    rnn->start_new_sequence();
    CHECK(naive::drawn(rnn->add_input(input(g, {kIn}, numbers(kIn, 1))), before).empty());
  }
}

TEST_CASE("masked steps give padded sequences the states that they have alone") {
  const std::vector<unsigned> lengths{4, 2, 0, 3};
  for (const Network& kind : kinds())
    for (const bool at_start : {false, true})
      for (const bool initial : {false, true}) {
        CAPTURE(kind.name, at_start, initial);
        const unsigned batch = 4, layers = 2, longest = 4;
        ParameterCollection pc;
        const auto rnn = kind.make(layers, pc);
        naive::spread(pc);
        ComputationGraph g;
        rnn->new_graph(g);
        std::vector<State> states(batch);
        std::vector<Expression> h0;
        if (initial) h0 = initial_state(g, kind.components, layers, kHidden, true, states);
        rnn->start_new_sequence(h0);
        for (unsigned t = 0; t < longest; ++t) {
          const auto x = numbers(kIn * batch, 300 + t);
          std::vector<float> mask;
          for (unsigned b = 0; b < batch; ++b) {
            const bool word = at_start ? t >= longest - lengths[b] : t < lengths[b];
            mask.push_back(word ? 1.0f : 0.0f);
            if (word) states[b] = kind.step(*rnn, layers, states[b], element(x, kIn, b), {});
          }
          const Expression y = rnn->add_masked_input(input(g, Dim({kIn}, batch), x),
                                                     input(g, Dim({1}, batch), mask));
          for (unsigned b = 0; b < batch; ++b) {
            const State now = naive::start(states[b], layers, kHidden);
            CHECK(difference(output(kind, now), element(y, b)) < 2e-6);
            for (unsigned l = 0; l < layers && kind.components == 2; ++l)
              CHECK(difference(now.c[l], element(rnn->final_s()[l], b)) < 2e-6);
          }
        }
        CHECK_THROWS_AS(
            rnn->add_masked_input(zeros(g, Dim({kIn}, batch)), ones(g, Dim({2}, batch))),
            ArgumentError);
        CHECK(rnn->state() == static_cast<int>(longest) - 1);
        // From any earlier state.
        const Expression x = input(g, {kIn}, numbers(kIn, 9));
        rnn->add_masked_input(RNNPointer(1), x, zeros(g, Dim({1}, batch)));
        CHECK(rnn->get_head(rnn->state()) == 1);
        for (unsigned b = 0; b < batch; ++b)
          CHECK(element(rnn->get_h(rnn->state()).back(), b) ==
                element(rnn->get_h(RNNPointer(1)).back(), b));
      }
}

TEST_CASE("set_h and set_s keep a deep network's output whole") {
  ParameterCollection pc;
  DeepLSTMBuilder rnn(2, kIn, 2, pc);
  ComputationGraph g;
  rnn.new_graph(g);
  rnn.start_new_sequence();
  const Expression a = input(g, {2}, {1, 2}), b = input(g, {2}, {3, 4});
  CHECK(as_vector(rnn.set_h(rnn.state(), {a, b}).value()) == std::vector<float>{1, 2, 3, 4});
  CHECK(as_vector(rnn.set_s(rnn.state(), {a, a, b, a}).value()) == std::vector<float>{3, 4, 1, 2});
  rnn.start_new_sequence({a, a, b, a});
  CHECK(as_vector(rnn.back().value()) == std::vector<float>{3, 4, 1, 2});
}

TEST_CASE("weight noise is one draw for a graph") {
  ParameterCollection pc;
  CompactVanillaLSTMBuilder lstm(1, 30, 40, pc);
  const auto run = [&](std::uint64_t seed, float std, float x) {
    ComputationGraph g;
    g.set_seed(seed);
    lstm.set_weightnoise(std);
    lstm.new_graph(g);
    lstm.start_new_sequence();
    lstm.set_s(RNNPointer(-1), {zeros(g, {40}), zeros(g, {40})});
    const Expression a = lstm.add_input(RNNPointer(0), constant(g, {30}, x));
    const Expression b = lstm.add_input(RNNPointer(0), constant(g, {30}, x));
    CHECK(as_vector(a.value()) == as_vector(b.value()));
    return as_vector(a.value());
  };
  CHECK(run(1, 0.1f, 1) == run(1, 0.1f, 1));
  CHECK(run(1, 0.1f, 1) != run(2, 0.1f, 1));
  CHECK(run(1, 0, 1) == run(2, 0, 1));
  CHECK(run(1, 0.1f, 1) != run(1, 0, 1));
  for (const bool ln : {false, true}) {
    VanillaLSTMBuilder noisy(2, kIn, kHidden, pc, ln);
    noisy.set_weightnoise(0.2f);
    ComputationGraph g;
    noisy.new_graph(g);
    noisy.start_new_sequence();
    noisy.add_input(input(g, {kIn}, numbers(kIn, 1)));
    check_slopes(squared_norm(noisy.add_input(input(g, {kIn}, numbers(kIn, 2)))));
  }
}

TEST_CASE("a sparse LSTM is one whose small weights are zero") {
  for (const bool ln : {false, true}) {
    ParameterCollection a, b;
    SparseLSTMBuilder sparse(2, kIn, kHidden, a, ln);
    VanillaLSTMBuilder plain(2, kIn, kHidden, b, ln);
    naive::spread(a);
    const auto run = [&](RNNBuilder& lstm, ComputationGraph& g) {
      lstm.new_graph(g);
      lstm.start_new_sequence();
      lstm.add_input(input(g, {kIn}, numbers(kIn, 1)));
      return lstm.add_input(input(g, {kIn}, numbers(kIn, 2)));
    };
    for (const float percent : {0.0f, 40.0f, 100.0f}) {
      CAPTURE(ln, percent);
      sparse.set_sparsity(percent);
      std::vector<Parameter> weights;
      for (const Parameter& p : a.parameters_list())
        if (p.is_updated()) weights.push_back(p);
      const auto plain_weights = b.parameters_list();
      REQUIRE(weights.size() == plain_weights.size());
      for (std::size_t i = 0; i < weights.size(); ++i) {
        std::vector<float> w = as_vector(weights[i].values());
        if (w.size() > 4 * kHidden) {  // a matrix
          std::vector<float> sizes;
          for (float x : w) sizes.push_back(std::abs(x));
          std::sort(sizes.begin(), sizes.end());
          const auto off = static_cast<std::size_t>(w.size() * percent / 100);
          for (float& x : w)
            if (off > 0 && std::abs(x) <= sizes[off - 1]) x = 0;
        }
        Parameter(plain_weights[i]).set_value(w);
      }
      ComputationGraph g, h;
      const Expression y = run(sparse, g);
      CHECK(difference(run(plain, h), y) < 1e-6);
      a.reset_gradient();
      g.backward(squared_norm(y));
      std::size_t zeros = 0, all = 0;
      for (const Parameter& p : weights)
        if (p.dim().nd == 2)
          for (float x : as_vector(p.gradients())) zeros += x == 0, ++all;
      CHECK(static_cast<double>(zeros) >= 0.99 * static_cast<double>(all) * percent / 100 - 8);
      if (percent == 0) CHECK(zeros < all / 10);
    }
  }
}

}  // namespace cells_test
