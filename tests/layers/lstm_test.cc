#include "tests/layers/cells.h"
#include "tests/support/all_values.h"

namespace lstm_test {

using namespace dynet;
TEST_CASE("dropout of an LSTM has its rates, and new masks for each sequence") {
  ParameterCollection pc;
  VanillaLSTMBuilder lstm(1, 400, 300, pc);
  lstm.set_dropout(0.5f, 0.2f);
  ComputationGraph g;
  lstm.new_graph(g);
  const Expression x = zeros(g, Dim({400}, 2));
  for (int sequence = 0; sequence < 2; ++sequence) {
    lstm.start_new_sequence();
    lstm.add_input(lstm.state(), x);
    lstm.add_input(x);
    lstm.add_input(RNNPointer(0), x);
  }
  const std::vector<naive::Vector> masks = naive::drawn(x);
  REQUIRE(masks.size() == 4);
  CHECK(masks[0] != masks[2]);
  CHECK(masks[1] != masks[3]);
  for (int k = 0; k < 4; ++k) {
    CHECK(masks[k].size() == (k % 2 ? 600 : 800));
    const double dropped = 1.0 * std::count(masks[k].begin(), masks[k].end(), 0.0);
    const double rate = k % 2 ? 0.2 : 0.5, n = static_cast<double>(masks[k].size());
    CHECK(std::abs(dropped / n - rate) < 4 * std::sqrt(rate * (1 - rate) / n));
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
    const auto moved = [](const Parameter& q) {
      const std::vector<float> d = as_vector(q.gradients());
      return std::any_of(d.begin(), d.end(), [](float x) { return x != 0; });
    };
    for (const Parameter& q : lstm.get_parameter_collection().parameters_list())
      CHECK(moved(q) == update);
    CHECK(moved(p));
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
  for (std::size_t i = 0; i < p.size(); ++i) CHECK(p[i].get_fullname() == q[i].get_fullname());
  CHECK(test::all_values(a) == test::all_values(b));  // of the seed and the name
  const SimpleRNNBuilder rnn(2, 4, 5, a, true);
  CHECK(SimpleRNNBuilder(b, rnn.settings()).settings().support_lags);
  CHECK(test::all_values(a) == test::all_values(b));
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
