#include "tests/layers/cells.h"

namespace rnn_test {

using namespace dynet;
using naive::difference;
using naive::element;
using naive::numbers;
using naive::State;

TEST_CASE("a simple RNN with auxiliary inputs computes what the textbook says") {
  for (const unsigned layers : {1u, 2u, 3u})
    for (const unsigned batch : {1u, 2u})
      for (const bool initial : {false, true}) {
        CAPTURE(layers, batch, initial);
        const unsigned in = 3, hidden = 4;
        ParameterCollection pc;
        SimpleRNNBuilder rnn(layers, in, hidden, pc, true);
        CHECK(rnn.num_h0_components() == layers);
        naive::spread(pc);
        ComputationGraph g(batch == 2);
        rnn.new_graph(g);
        std::vector<State> states(batch);
        std::vector<Expression> h0;
        if (initial) h0 = naive::initial_state(g, 1, layers, hidden, false, states);
        rnn.start_new_sequence(h0);
        for (unsigned t = 0; t < 4; ++t) {
          const std::vector<float> x = numbers(in * batch, t), a = numbers(hidden * batch, 50 + t);
          const Expression e = input(g, Dim({in}, batch), x);
          const bool auxiliary = t % 2 == 0;
          const Expression y = auxiliary
                                   ? rnn.add_auxiliary_input(e, input(g, Dim({hidden}, batch), a))
                                   : rnn.add_input(e);
          for (unsigned b = 0; b < batch; ++b) {
            states[b] = naive::rnn_step(rnn, layers, hidden, true, states[b], element(x, in, b),
                                        auxiliary ? element(a, hidden, b) : naive::Vector());
            CHECK(difference(states[b].h.back(), element(y, b)) < 2e-6);
          }
        }
        for (unsigned b = 0; b < batch; ++b)
          for (unsigned l = 0; l < layers; ++l)
            CHECK(difference(states[b].h[l], element(rnn.final_h()[l], b)) < 2e-6);
        check_slopes(sum_batches(squared_norm(rnn.back())), 4 * layers);
      }
}

TEST_CASE("steps make a tree") {
  ParameterCollection pc;
  VanillaLSTMBuilder lstm(2, 2, 3, pc);
  ComputationGraph g;
  lstm.new_graph(g);
  lstm.start_new_sequence();
  CHECK(lstm.state() == -1);
  const auto x = [&](int k) { return input(g, {2}, {0.3f * static_cast<float>(k), -1}); };
  const Expression a = lstm.add_input(x(1));
  const RNNPointer after_a = lstm.state();
  CHECK(after_a == 0);
  const Expression ab = lstm.add_input(x(2));
  const Expression abc = lstm.add_input(x(3));
  CHECK(lstm.state() == 2);
  CHECK(lstm.get_head(lstm.state()) == 1);
  // A second branch from a.
  const Expression ac = lstm.add_input(after_a, x(3));
  CHECK(lstm.state() == 3);
  CHECK(lstm.get_head(RNNPointer(3)) == 0);
  CHECK(lstm.get_head(RNNPointer(0)) == -1);
  const Expression acd = lstm.add_input(x(4));
  // And one from the start.
  const Expression c = lstm.add_input(RNNPointer(-1), x(3));

  const auto alone = [&](std::initializer_list<int> path) {
    ComputationGraph h;
    VanillaLSTMBuilder copy(2, 2, 3, pc);
    copy.copy(lstm);
    copy.new_graph(h);
    copy.start_new_sequence();
    for (int k : path) copy.add_input(input(h, {2}, {0.3f * static_cast<float>(k), -1}));
    return naive::to_double(as_vector(copy.back().value()));
  };
  // Which products are made together, and so in which order a sum is added up, depends on the
  // graph.
  CHECK(difference(alone({1}), as_vector(a.value())) < 1e-6);
  CHECK(difference(alone({1, 2}), as_vector(ab.value())) < 1e-6);
  CHECK(difference(alone({1, 2, 3}), as_vector(abc.value())) < 1e-6);
  CHECK(difference(alone({1, 3}), as_vector(ac.value())) < 1e-6);
  CHECK(difference(alone({1, 3, 4}), as_vector(acd.value())) < 1e-6);
  CHECK(difference(alone({3}), as_vector(c.value())) < 1e-6);

  // Back along the branch taken, not in the order of creation.
  CHECK(lstm.state() == 5);
  lstm.rewind_one_step();
  CHECK(lstm.state() == -1);
  lstm.add_input(after_a, x(3));
  CHECK(lstm.state() == 6);
  lstm.rewind_one_step();
  CHECK(lstm.state() == 0);
  CHECK(as_vector(lstm.back().value()) == as_vector(a.value()));
  const Expression again = lstm.add_input(x(2));
  CHECK(as_vector(again.value()) == as_vector(ab.value()));
  CHECK(as_vector(lstm.get_h(RNNPointer(1))[1].value()) == as_vector(ab.value()));
  CHECK(as_vector(lstm.final_h()[1].value()) == as_vector(again.value()));
}

TEST_CASE("set_h and set_s give a step's state by hand") {
  ParameterCollection pc;
  VanillaLSTMBuilder lstm(2, 2, 3, pc);
  SimpleRNNBuilder rnn(2, 2, 3, pc);
  ComputationGraph g;
  const Expression x = input(g, {2}, {1, -1});
  const std::vector<Expression> h{input(g, {3}, {.1f, .2f, .3f}), input(g, {3}, {.4f, .5f, .6f})};
  const std::vector<Expression> s{input(g, {3}, {1, 2, 3}), input(g, {3}, {4, 5, 6}), h[0], h[1]};

  lstm.new_graph(g);
  lstm.start_new_sequence(s);
  const std::vector<float> expected = as_vector(lstm.add_input(x).value());
  lstm.start_new_sequence();
  lstm.add_input(x);
  CHECK(as_vector(lstm.set_s(lstm.state(), s).value()) == as_vector(h[1].value()));
  CHECK(lstm.state() == 1);
  CHECK(lstm.get_head(RNNPointer(1)) == 0);
  CHECK(as_vector(lstm.back().value()) == as_vector(h[1].value()));
  CHECK(as_vector(lstm.add_input(x).value()) == expected);

  // With set_h the cells stay.
  const std::vector<Expression> cells = lstm.get_s(RNNPointer(0));
  CHECK(as_vector(lstm.set_h(RNNPointer(0), h).value()) == as_vector(h[1].value()));
  CHECK(as_vector(lstm.final_s()[0].value()) == as_vector(cells[0].value()));
  CHECK(as_vector(lstm.final_s()[1].value()) == as_vector(cells[1].value()));
  CHECK(as_vector(lstm.final_h()[0].value()) == as_vector(h[0].value()));
  lstm.start_new_sequence();
  lstm.set_h(RNNPointer(-1), h);  // after an initial state of zeros
  CHECK(as_vector(lstm.final_s()[1].value()) == std::vector<float>{0, 0, 0});
  const std::vector<float> from_zero_cells = as_vector(lstm.add_input(x).value());
  lstm.start_new_sequence({zeros(g, {3}), zeros(g, {3}), h[0], h[1]});
  CHECK(as_vector(lstm.add_input(x).value()) == from_zero_cells);

  // With cells alone the outputs stay, zeros at first.
  const std::vector<Expression> outputs = lstm.get_h(RNNPointer(0));
  CHECK(as_vector(lstm.set_s(RNNPointer(0), {s[0], s[1]}).value()) ==
        as_vector(outputs[1].value()));
  CHECK(as_vector(lstm.final_s()[1].value()) == as_vector(s[1].value()));
  CHECK(as_vector(lstm.final_h()[0].value()) == as_vector(outputs[0].value()));
  lstm.start_new_sequence();
  CHECK(as_vector(lstm.set_s(RNNPointer(-1), {s[0], s[1]}).value()) == std::vector<float>{0, 0, 0});
  CHECK(as_vector(lstm.final_s()[0].value()) == as_vector(s[0].value()));

  rnn.new_graph(g);
  rnn.start_new_sequence(h);
  const std::vector<float> plain = as_vector(rnn.add_input(x).value());
  rnn.start_new_sequence();
  rnn.set_h(rnn.state(), h);
  CHECK(as_vector(rnn.add_input(x).value()) == plain);
  rnn.start_new_sequence();
  rnn.set_s(rnn.state(), h);
  CHECK(as_vector(rnn.add_input(x).value()) == plain);
}

TEST_CASE("an initial state is seen before the first step") {
  ParameterCollection pc;
  SimpleRNNBuilder rnn(2, 2, 3, pc);
  ComputationGraph g;
  const std::vector<Expression> h{input(g, {3}, {.1f, .2f, .3f}), input(g, {3}, {.4f, .5f, .6f})};
  rnn.new_graph(g);
  rnn.start_new_sequence(h);
  CHECK(as_vector(rnn.back().value()) == as_vector(h[1].value()));
  CHECK(rnn.final_h().size() == 2);
  CHECK(rnn.get_s(RNNPointer(-1)).size() == 2);
  rnn.start_new_sequence();
  CHECK(rnn.final_h().empty());
  CHECK(rnn.final_s().empty());
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

}  // namespace rnn_test
