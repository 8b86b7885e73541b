#include "tests/nn/naive.h"

namespace lstm_test {

using namespace dynet;
using naive::difference;
using naive::numbers;
using naive::State;
using naive::Vector;

namespace {

/// Batch element b of a batch of vectors.
Vector element(const std::vector<float>& x, unsigned size, unsigned b) {
  return Vector(x.begin() + b * size, x.begin() + (b + 1) * size);
}

std::vector<float> element(const Expression& x, unsigned b) {
  return as_vector(x.value().batch_elem(b));
}

}  // namespace

TEST_CASE("an LSTM computes what the textbook says") {
  for (const unsigned layers : {1u, 2u, 3u})
    for (const unsigned batch : {1u, 3u})
      for (const bool initial : {false, true})
        for (const float forget_bias : {1.0f, 0.0f, -0.5f}) {
          CAPTURE(layers, batch, initial, forget_bias);
          const unsigned in = 4, hidden = 5;
          ParameterCollection pc;
          VanillaLSTMBuilder lstm(layers, in, hidden, pc, false, forget_bias);
          CHECK(lstm.num_h0_components() == 2 * layers);
          for (const Parameter& p : lstm.get_parameter_collection().parameters_list()) {
            Parameter q = p;
            q.set_value(numbers(p.dim().size(), p.dim().size() + layers));
          }
          ComputationGraph g(batch == 3);
          lstm.new_graph(g);
          std::vector<State> states(batch);
          std::vector<Expression> h0;
          if (initial) {
            for (State& s : states) s.c.resize(layers), s.h.resize(layers);
            for (unsigned k = 0; k < 2 * layers; ++k) {
              const std::vector<float> x = numbers(hidden * batch, 100 + k);
              h0.push_back(input(g, Dim({hidden}, batch), x));
              for (unsigned b = 0; b < batch; ++b)
                (k < layers ? states[b].c[k] : states[b].h[k - layers]) = element(x, hidden, b);
            }
          }
          lstm.start_new_sequence(h0);
          for (unsigned t = 0; t < 4; ++t) {
            const std::vector<float> x = numbers(in * batch, 200 + t);
            const Expression y = lstm.add_input(input(g, Dim({in}, batch), x));
            CHECK(y.dim() == Dim({hidden}, batch));
            for (unsigned b = 0; b < batch; ++b) {
              states[b] =
                  naive::lstm_step(lstm, layers, hidden, forget_bias, states[b], element(x, in, b));
              CHECK(difference(states[b].h.back(), element(y, b)) < 2e-6);
            }
          }
          const std::vector<Expression> h = lstm.final_h(), s = lstm.final_s();
          REQUIRE(h.size() == layers);
          REQUIRE(s.size() == 2 * layers);
          for (unsigned b = 0; b < batch; ++b)
            for (unsigned l = 0; l < layers; ++l) {
              CHECK(difference(states[b].h[l], element(h[l], b)) < 2e-6);
              CHECK(difference(states[b].c[l], element(s[l], b)) < 2e-6);
              CHECK(difference(states[b].h[l], element(s[layers + l], b)) < 2e-6);
            }
          CHECK(as_vector(lstm.back().value()) == as_vector(h.back().value()));
        }
}

TEST_CASE("gradients of an LSTM are the slopes of the loss, in double") {
  for (const bool dropout : {false, true})
    for (const unsigned batch : {1u, 2u}) {
      CAPTURE(dropout, batch);
      ParameterCollection pc;
      VanillaLSTMBuilder lstm(2, 3, 4, pc);
      auto table = pc.add_lookup_parameters(5, {3}, ParameterInitNormal(0, 1));
      auto h0 = pc.add_parameters({4}, ParameterInitNormal(0, 1));
      if (dropout) lstm.set_dropout(0.3f, 0.4f);
      ComputationGraph g;
      g.set_seed(5);
      lstm.new_graph(g);
      const Expression start = parameter(g, h0);
      lstm.start_new_sequence({start, tanh(start), start * 0.5f, start});
      std::vector<Expression> losses;
      for (unsigned t = 0; t < 4; ++t) {
        const Expression x =
            batch == 1 ? lookup(g, table, t) : lookup(g, table, std::vector<unsigned>{t, 4});
        const Expression y = lstm.add_input(x);
        losses.push_back(sum_batches(squared_norm(y)) + sum_batches(pick(y, t)));
      }
      // Only part of what was computed matters; also a cell.
      losses.push_back(sum_batches(sum_elems(lstm.get_s(RNNPointer(2))[1])));
      GradientCheckOptions all;
      all.max_elements = 0;
      const GradientReport report = check_gradients(sum(losses), all);
      INFO(report);
      CHECK(report.parameters == 8);
      CHECK(report.elements == pc.parameter_count() - (batch == 1 ? 3 : 0));  // the unused row
      CHECK(report.ok());
    }
}

TEST_CASE("dropout of an LSTM uses one mask for the whole sequence") {
  const unsigned in = 6, hidden = 5, layers = 2;
  const float d = 0.4f, d_h = 0.3f;
  ParameterCollection pc;
  VanillaLSTMBuilder lstm(layers, in, hidden, pc);
  lstm.set_dropout(d, d_h);
  ComputationGraph g;
  lstm.new_graph(g);
  lstm.start_new_sequence();
  std::vector<Expression> outputs;
  for (unsigned t = 0; t < 5; ++t)
    outputs.push_back(lstm.add_input(input(g, {in}, numbers(in, t))));
  outputs.back().value();
  // The masks are the only random nodes: of each layer the input's, then the output's.
  naive::Masks masks;
  for (NodeId id = 0; id < g.store().nodes.size(); ++id) {
    const Node& n = g.store().nodes[id];
    if (std::string(n.form->name.value) != "random_bernoulli") continue;
    Expression e = outputs[0];
    e.i = id;
    e.serial = g.store().origins[id].serial;
    const std::vector<float> m = as_vector(e.value());
    auto& list = masks.input.size() == masks.output.size() ? masks.input : masks.output;
    const float rate = &list == &masks.input ? d : d_h;
    for (float x : m) CHECK((x == 0 || x == Approx(1 / (1 - rate))));
    list.emplace_back(m.begin(), m.end());
  }
  REQUIRE(masks.input.size() == layers);
  REQUIRE(masks.output.size() == layers);
  CHECK(masks.input[0].size() == in);
  CHECK(masks.input[1].size() == hidden);
  State s;
  for (unsigned t = 0; t < 5; ++t) {
    s = naive::lstm_step(lstm, layers, hidden, 1, s, naive::to_double(numbers(in, t)), masks);
    CHECK(difference(s.h.back(), as_vector(outputs[t].value())) < 2e-6);
  }
}

TEST_CASE("dropout of an LSTM has its rates, new masks for each sequence, and can be turned off") {
  ParameterCollection pc;
  VanillaLSTMBuilder lstm(1, 400, 300, pc);
  lstm.set_dropout(0.5f, 0.2f);
  ComputationGraph g;
  lstm.new_graph(g);
  std::vector<std::vector<float>> masks;
  const Expression x = zeros(g, Dim({400}, 2));
  for (int sequence = 0; sequence < 2; ++sequence) {
    const std::size_t first = g.size();
    lstm.start_new_sequence();
    const Expression y = lstm.add_input(lstm.state(), x);
    lstm.add_input(x);
    lstm.add_input(RNNPointer(0), x);
    for (NodeId id = static_cast<NodeId>(first); id < g.size(); ++id) {
      const Node& n = g.store().nodes[id];
      if (std::string(n.form->name.value) != "random_bernoulli") continue;
      CHECK(n.dim.bd == 2);
      Expression e = y;
      e.i = id;
      e.serial = g.store().origins[id].serial;
      masks.push_back(as_vector(e.value()));
    }
  }
  REQUIRE(masks.size() == 4);
  CHECK(masks[0] != masks[2]);
  CHECK(masks[1] != masks[3]);
  for (int k = 0; k < 4; ++k) {
    const double dropped = 1.0 * std::count(masks[k].begin(), masks[k].end(), 0.0f);
    const double rate = k % 2 ? 0.2 : 0.5, n = static_cast<double>(masks[k].size());
    CHECK(std::abs(dropped / n - rate) < 4 * std::sqrt(rate * (1 - rate) / n));
  }
  lstm.disable_dropout();
  const std::size_t before = g.size();
  lstm.start_new_sequence();
  lstm.add_input(x);
  lstm.add_input(x);
  for (NodeId id = static_cast<NodeId>(before); id < g.size(); ++id)
    CHECK(std::string(g.store().nodes[id].form->name.value) != "random_bernoulli");
  for (const float bad : {-0.1f, 1.0f, 2.0f, NAN}) {
    CHECK_THROWS_AS(lstm.set_dropout(bad), ArgumentError);
    CHECK_THROWS_AS(lstm.set_dropout(0.0f, bad), ArgumentError);
  }
}

TEST_CASE("a builder that does not update gives its parameters no gradient") {
  ParameterCollection pc;
  VanillaLSTMBuilder lstm(2, 3, 4, pc);
  auto p = pc.add_parameters({3}, ParameterInitConst(1.0f));
  for (const bool update : {false, true}) {
    pc.reset_gradient();
    ComputationGraph g;
    lstm.new_graph(g, update);
    lstm.start_new_sequence();
    lstm.add_input(parameter(g, p));
    g.backward(squared_norm(lstm.add_input(parameter(g, p))));
    double norm = 0;
    for (const Parameter& q : lstm.get_parameter_collection().parameters_list())
      for (float x : as_vector(q.gradients())) norm += std::abs(x);
    CHECK((norm > 0) == update);
    norm = 0;
    for (float x : as_vector(p.gradients())) norm += std::abs(x);
    CHECK(norm > 0);
  }
}

TEST_CASE("a builder is made again from its settings") {
  ParameterCollection a, b;
  const VanillaLSTMBuilder lstm(3, 4, 5, a, false, 0.25f);
  VanillaLSTMBuilder again(b, lstm.settings());
  CHECK(again.settings().layers == 3);
  CHECK(again.settings().input_dim == 4);
  CHECK(again.settings().hidden_dim == 5);
  CHECK(again.settings().forget_bias == 0.25f);
  const auto p = a.parameters_list(), q = b.parameters_list();
  REQUIRE(p.size() == 9);
  REQUIRE(q.size() == p.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    CHECK(p[i].get_fullname() == q[i].get_fullname());
    CHECK(p[i].dim() == q[i].dim());
    CHECK(as_vector(p[i].values()) == as_vector(q[i].values()));  // of the seed and the name
  }
}

TEST_CASE("copy takes the values of a builder of the same size") {
  ParameterCollection pc;
  VanillaLSTMBuilder a(2, 3, 4, pc), b(2, 3, 4, pc), other(1, 3, 4, pc), wide(2, 3, 5, pc);
  SimpleRNNBuilder rnn(2, 3, 4, pc);
  const auto first_values = [](const RNNBuilder& x) {
    return as_vector(x.get_parameter_collection().parameters_list()[0].values());
  };
  REQUIRE(first_values(a) != first_values(b));
  b.copy(a);
  const auto p = a.get_parameter_collection().parameters_list();
  const auto q = b.get_parameter_collection().parameters_list();
  for (std::size_t i = 0; i < p.size(); ++i) {
    CHECK(as_vector(p[i].values()) == as_vector(q[i].values()));
    CHECK(p[i].values().v != q[i].values().v);
  }
  const std::vector<float> before = first_values(other);
  CHECK_THROWS_AS(other.copy(a), ArgumentError);
  CHECK_THROWS_AS(wide.copy(a), ShapeError);
  CHECK_THROWS_AS(rnn.copy(a), ShapeError);
  CHECK(first_values(other) == before);
}

}  // namespace lstm_test
