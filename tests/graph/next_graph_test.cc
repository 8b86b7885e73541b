// The next graph, and a renewed graph, reuse the state of a graph without its settings.

#include "dynet-like/param/storage.h"
#include "tests/support/prelude.h"

namespace next_graph_test {

using namespace dynet;

namespace {

std::size_t batches_of_ten(ComputationGraph& g) {
  std::vector<Expression> ys;
  for (unsigned k = 0; k < 10; ++k) ys.push_back(tanh(input(g, static_cast<float>(k))));
  sum(ys).value();
  return g.statistics().batches;
}

/// Calls `look` with a graph after a destroyed one with the settings of `tell`, and with a renewed
/// one.
template <class Tell, class Look>
void next_graph(Tell tell, Look look) {
  {
    ComputationGraph g;
    tell(g);
  }
  {
    ComputationGraph next;
    look(next);
  }
  ComputationGraph renewed;
  tell(renewed);
  renewed.renew();
  look(renewed);
}

}  // namespace

TEST_CASE("a graph runs in batches after a graph without batches") {
  std::size_t batches = 0, alone = 0;
  {
    ComputationGraph g;
    batches = batches_of_ten(g);
  }
  {
    ComputationGraph g(false);
    alone = batches_of_ten(g);
  }
  CHECK(batches < alone);
  ComputationGraph next;
  CHECK(batches_of_ten(next) == batches);
}

TEST_CASE("a graph uses the buffer of its thread after a graph with a numbered buffer") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2});
  const auto buffer = [&](ComputationGraph& g) {
    pc.reset_gradient();
    g.backward(squared_norm(parameter(g, p)));
    const auto buffers = p.stored().bank->gradients.in_order();
    REQUIRE(buffers.size() == 1);
    return buffers[0].first;
  };
  next_graph(
      [&](ComputationGraph& g) {
        CHECK_FALSE(GradientBuffers::is_number(buffer(g)));
        g.set_gradient_buffer(5);
        CHECK(GradientBuffers::is_number(buffer(g)));
      },
      [&](ComputationGraph& g) { CHECK_FALSE(GradientBuffers::is_number(buffer(g))); });
}

TEST_CASE("a graph runs backward after a graph in inference") {
  ParameterCollection pc;
  auto p = pc.add_parameters({1}, ParameterInitConst(3.0f));
  next_graph([](ComputationGraph& g) { g.set_inference(true); },
             [&](ComputationGraph& g) {
               pc.reset_gradient();
               g.backward(square(parameter(g, p)));
               CHECK(as_scalar(p.gradients()) == 6);
             });
  // The graph keeps its values; in inference, values beyond 8 MiB are freed.
  const auto bytes = [](ComputationGraph& g) {
    Expression x = input(g, {1 << 16}, std::vector<float>(1 << 16, 0.5f));
    for (unsigned k = 0; k < 1200; ++k) x = square(x);
    x.value();
    return g.statistics().value_bytes;
  };
  std::size_t forgetful = 0;
  next_graph(
      [&](ComputationGraph& g) {
        g.set_inference(true);
        forgetful = bytes(g);
      },
      [&](ComputationGraph& g) { CHECK(bytes(g) > 2 * forgetful); });
}

TEST_CASE("a graph neither checks values nor computes immediately after a graph that does") {
  next_graph(
      [](ComputationGraph& g) {
        g.set_check_validity(true);
        g.set_immediate_compute(true);
        input(g, 1.0f).value();
      },
      [](ComputationGraph& g) {
        const Expression x = log(input(g, -1.0f));
        CHECK(g.statistics().value_bytes == 0);
        CHECK_FALSE(x.value().is_valid());
        CHECK(batches_of_ten(g) > 0);
      });
}

TEST_CASE("a graph has neither checkpoints nor parameters of the previous graph") {
  ParameterCollection pc;
  auto p = pc.add_parameters({3}, ParameterInitConst(2.0f));
  auto before = std::make_unique<ParameterCollection>();
  auto gone = before->add_parameters({3});
  next_graph(
      [&](ComputationGraph& g) {
        parameter(g, gone);
        g.checkpoint();
      },
      [&](ComputationGraph& g) {
        CHECK_THROWS_AS(g.revert(), ArgumentError);
        const Expression y = tanh(parameter(g, p)), loss = sum_elems(y);
        g.backward(loss);
        gone.scale(2.0f);  // no parameter of this graph
        CHECK(as_vector(y.gradient()) == std::vector<float>{1, 1, 1});
      });
}

TEST_CASE("each graph makes its own draws, and a cleared graph continues its draws") {
  std::vector<std::vector<float>> draws;
  for (unsigned k = 0; k < 4; ++k) {
    ComputationGraph g;
    for (unsigned i = 0; i < 2; ++i) {
      draws.push_back(as_vector(random_uniform(g, {8}, 0.0f, 1.0f).value()));
      for (unsigned j = 0; j + 1 < draws.size(); ++j) CHECK(draws[j] != draws.back());
      if (i == 0) g.clear();
    }
  }
}

TEST_CASE("a renewed graph has a new id, new draws and its own settings") {
  ComputationGraph g;
  const unsigned id = g.get_id();
  const Expression x = random_uniform(g, {8}, 0.0f, 1.0f);
  const std::vector<float> drawn = as_vector(x.value());
  const std::size_t batches = batches_of_ten(g);
  g.renew(false);
  CHECK(g.size() == 0);
  CHECK(g.get_id() == id + 1);
  CHECK(get_current_graph_id() == id + 1);
  CHECK_THROWS_AS(x.value(), StaleExpressionError);
  CHECK(as_vector(random_uniform(g, {8}, 0.0f, 1.0f).value()) != drawn);
  CHECK(batches_of_ten(g) > batches);
  g.renew();
  CHECK(batches_of_ten(g) < batches);
}

TEST_CASE("set_seed restarts the draws") {
  ComputationGraph g;
  g.set_seed(5);
  const auto a = as_vector(random_uniform(g, {8}, 0.0f, 1.0f).value());
  const auto b = as_vector(random_uniform(g, {8}, 0.0f, 1.0f).value());
  g.set_seed(5);
  CHECK(as_vector(random_uniform(g, {8}, 0.0f, 1.0f).value()) == a);
  CHECK(as_vector(random_uniform(g, {8}, 0.0f, 1.0f).value()) == b);
}

}  // namespace next_graph_test
