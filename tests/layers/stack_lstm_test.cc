#include <random>

#include "tests/layers/naive_transformer.h"

namespace stack_lstm_test {

using namespace dynet;
using naive::numbers;

namespace {

constexpr unsigned kInput = 3, kHidden = 4;

/// A stack and what should be on it.
struct Watched {
  RNNStack stack;
  std::vector<Expression> content;
};

/// The top of a stack onto which only this was pushed.
template <class Layer>
std::vector<float> rebuilt(const Layer& layer, const std::vector<Expression>& content) {
  RNNStack stack = layer.start();
  for (const Expression& x : content) stack.push(x);
  return as_vector(stack.top().value());
}

template <class Layer>
void any_pushes_and_pops(unsigned layers, unsigned batch) {
  CAPTURE(layers, batch);
  ParameterCollection model;
  Layer layer(model, {layers, kInput, kHidden});
  naive::spread(model);
  ComputationGraph cg;
  layer.new_graph(cg);
  std::mt19937 random(layers);
  std::vector<Watched> beam(1, Watched{layer.start(), {}});
  for (unsigned step = 0; step < 120; ++step) {
    const std::size_t k = random() % beam.size();
    const unsigned action = random() % 8;
    if (action == 0 && beam.size() < 4) {
      beam.push_back(beam[k]);  // the two go on separately
    } else if (action < 5 || beam[k].stack.empty()) {
      const Expression x = input(cg, Dim({kInput}, batch), numbers(kInput * batch, step));
      beam[k].stack.push(x);
      beam[k].content.push_back(x);
    } else {
      beam[k].stack.pop();
      beam[k].content.pop_back();
    }
    for (const Watched& w : beam) {
      REQUIRE(w.stack.size() == w.content.size());
      REQUIRE(w.stack.empty() == w.content.empty());
    }
    REQUIRE(as_vector(beam[k].stack.top().value()) == rebuilt(layer, beam[k].content));
  }
  for (Watched& w : beam) {
    CHECK(as_vector(w.stack.top().value()) == rebuilt(layer, w.content));
    while (!w.stack.empty()) w.stack.pop();
    CHECK(as_vector(w.stack.top().value()) == rebuilt(layer, {}));
  }
}

}  // namespace

TEST_CASE("stack lstm: any pushes, pops and copies give what was rebuilt, bit for bit") {
  any_pushes_and_pops<StackLSTM>(1, 1);
  any_pushes_and_pops<StackLSTM>(2, 3);
  any_pushes_and_pops<StackRNN<GRUBuilder>>(2, 1);
  any_pushes_and_pops<StackRNN<SimpleRNNBuilder>>(1, 2);
  any_pushes_and_pops<StackRNN<DeepLSTMBuilder>>(2, 1);  // whose output is that of all layers
}

TEST_CASE("stack lstm: the network reads what lies below, then what was pushed") {
  ParameterCollection model;
  StackLSTM layer(model, {1, kInput, kHidden});
  naive::spread(model);
  ComputationGraph cg;
  layer.new_graph(cg);
  // The parameters: what lies below, then the network's.
  const auto parameters = layer.get_parameter_collection().parameters_list();
  REQUIRE(parameters.size() == 4);
  CHECK(parameters[0].dim() == Dim({kInput}));
  ParameterCollection alone;
  VanillaLSTMBuilder network(1, kInput, kHidden, alone);
  for (std::size_t k = 0; k < 3; ++k)
    alone.parameters_list()[k].set_value(as_vector(parameters[k + 1].values()));
  const auto step = [&](const naive::State& before, const std::vector<float>& x) {
    return naive::lstm_step(network, 1, kHidden, 1, before, naive::to_double(x));
  };
  const std::vector<float> x = numbers(kInput, 8);
  const naive::State empty = step({}, as_vector(parameters[0].values()));
  RNNStack stack = layer.start();
  CHECK(naive::difference(empty.h[0], as_vector(stack.top().value())) < 1e-6);
  stack.push(input(cg, {kInput}, x));
  CHECK(naive::difference(step(empty, x).h[0], as_vector(stack.top().value())) < 1e-6);
}

TEST_CASE("stack lstm: gradients, of the top of an empty stack too") {
  ParameterCollection model;
  StackLSTM layer(model, {2, kInput, kHidden});
  const Parameter x = model.add_parameters({kInput});
  naive::spread(model);
  const auto loss = [&](ComputationGraph& cg, bool update) {
    layer.new_graph(cg, update);
    RNNStack stack = layer.start();
    Expression sum = squared_norm(stack.top());
    stack.push(parameter(cg, x));
    stack.push(input(cg, {kInput}, numbers(kInput, 3)));
    RNNStack other = stack;
    other.pop();
    other.push(input(cg, {kInput}, numbers(kInput, 4)));
    return sum + squared_norm(stack.top() - other.top() * 2);
  };
  check_slopes(loss, 8, 1);
  ComputationGraph empty;
  layer.new_graph(empty);
  CHECK(check_gradients(squared_norm(layer.start().top())).parameters >= 5);
}

TEST_CASE("stack lstm: dropout has one mask for a stack and its copies, and rests") {
  ParameterCollection model;
  StackLSTM layer(model, {1, kInput, kHidden});
  ComputationGraph cg;
  layer.new_graph(cg);
  layer.set_dropout(0.5f);
  RNNStack stack = layer.start();
  const Expression x = input(cg, {kInput}, {1, 2, 3});
  CHECK(naive::drawn(x).size() == 2);  // for inputs and for outputs
  stack.push(x);
  RNNStack copy = stack;
  copy.pop();
  copy.push(x);
  CHECK(naive::drawn(x).size() == 2);
  CHECK(as_vector(copy.top().value()) == as_vector(stack.top().value()));
  layer.start();
  CHECK(naive::drawn(x).size() == 4);
  layer.disable_dropout();
  layer.start().push(x);
  CHECK(naive::drawn(x).size() == 4);
  CHECK_THROWS_AS(layer.set_dropout(1), ArgumentError);
}

TEST_CASE("stack lstm: what is wrong is said, and changes nothing") {
  ParameterCollection model;
  CHECK_THROWS_WITH(StackLSTM(model, {0, 2, 2}), Catch::Contains("above zero, got 0, 2 and 2"));
  CHECK_THROWS_AS(StackLSTM(model, {1, 0, 2}), ArgumentError);
  CHECK_THROWS_AS(StackLSTM(model, {1, 2, 0}), ArgumentError);
  CHECK(model.parameters_list().empty());
  ComputationGraph cg;
  StackLSTM layer(model, {1, kInput, kHidden});
  RNNStack nowhere;
  const Expression x = input(cg, {kInput}, {1, 2, 3});
  CHECK((nowhere.empty() && nowhere.size() == 0));
  CHECK_THROWS_WITH(nowhere.push(x), Catch::Contains("has no graph"));
  CHECK_THROWS_AS(nowhere.pop(), ArgumentError);
  CHECK_THROWS_AS(nowhere.top(), ArgumentError);
  layer.new_graph(cg);
  RNNStack stack = layer.start();
  CHECK_THROWS_AS(stack.pop(), ArgumentError);
  naive::throws_here([&] { stack.pop(); }, "pop: the stack is empty", __LINE__);
  const std::vector<float> before = as_vector(stack.top().value());
  CHECK_THROWS_AS(stack.push(input(cg, {2}, {1, 2})), ShapeError);
  CHECK(stack.empty());
  CHECK(as_vector(stack.top().value()) == before);
  stack.push(x);
  CHECK(as_vector(stack.top().value()) == rebuilt(layer, {x}));
  {
    ComputationGraph gone;
    layer.new_graph(gone);
    stack = layer.start();
  }
  CHECK_THROWS_AS(layer.start(), StaleExpressionError);
  CHECK_THROWS_AS(stack.push(x), StaleExpressionError);
  // A stack outlives its layer.
  layer.new_graph(cg);
  stack = layer.start();
  stack.push(x);
  RNNStack left;
  {
    StackLSTM gone = layer;
    left = gone.start();
  }
  left.push(x);
  CHECK(as_vector(left.top().value()) == as_vector(stack.top().value()));
}

}  // namespace stack_lstm_test
