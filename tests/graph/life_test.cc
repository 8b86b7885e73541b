#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dynet-like/dynet.h"
#include "dynet-like/graph/graph_state.h"
#include "tests/support/catch.h"

namespace life_test {

using namespace dynet;

TEST_CASE("a graph can be neither copied nor moved") {
  static_assert(!std::is_copy_constructible_v<ComputationGraph>);
  static_assert(!std::is_move_constructible_v<ComputationGraph>);
  static_assert(!std::is_copy_assignable_v<ComputationGraph>);
}

TEST_CASE("several graphs live at once, built and run alternately") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, ParameterInitConst(1.0f));
  std::vector<std::unique_ptr<ComputationGraph>> graphs;
  std::vector<Expression> ends;
  for (int k = 0; k < 50; ++k) {
    graphs.push_back(std::make_unique<ComputationGraph>());
    ends.push_back(parameter(*graphs[k], p) * static_cast<float>(k));
  }
  for (int step = 0; step < 10; ++step)
    for (int k = 0; k < 50; ++k) {
      ends[k] = ends[k] + 1.0f;
      if ((k + step) % 3 == 0) ends[k].value();
    }
  float expected = 0;
  for (int k = 0; k < 50; ++k) {
    CHECK(as_vector(ends[k].value()) == std::vector<float>(2, static_cast<float>(k) + 10.0f));
    graphs[k]->backward(sum_elems(ends[k]));
    expected += static_cast<float>(k);
  }
  CHECK(as_vector(p.gradients()) == std::vector<float>(2, expected));
  // Destruction in another order than construction.
  for (int k = 0; k < 50; k += 2) graphs[k].reset();
  for (int k = 1; k < 50; k += 2)
    CHECK(as_vector(ends[k].value()) == std::vector<float>(2, static_cast<float>(k) + 10.0f));
  for (int k = 0; k < 50; k += 2) CHECK(ends[k].is_stale());
}

TEST_CASE("a parameter lives as long as a graph refers to it") {
  auto pc = std::make_unique<ParameterCollection>();
  ComputationGraph g;
  Expression x, row;
  {
    auto p = pc->add_parameters({3}, ParameterInitConst(2.0f), "W");
    auto e = pc->add_lookup_parameters(4, {3}, ParameterInitConst(5.0f), "E");
    x = parameter(g, p);
    row = lookup(g, e, 2);
  }
  pc.reset();
  const Expression loss = dot_product(x, row);
  CHECK(as_scalar(loss.value()) == 30);
  g.backward(loss);
  CHECK(as_vector(x.gradient()) == std::vector<float>(3, 5.0f));
  CHECK(as_vector(row.gradient()) == std::vector<float>(3, 2.0f));
  std::string text;
  try {
    x* x;
  } catch (const ShapeError& e) {
    text = e.what();
  }
  CHECK(text.find("parameter \"/W\"") != std::string::npos);
}

TEST_CASE("clear releases parameters that nothing else holds") {
  std::weak_ptr<ParameterStorageBase> watched;
  ComputationGraph g;
  {
    ParameterCollection pc;
    auto p = pc.add_parameters({3});
    watched = p.shared();
    parameter(g, p);
  }
  CHECK_FALSE(watched.expired());
  g.clear();
  CHECK(watched.expired());
  {
    ParameterCollection pc;
    auto p = pc.add_parameters({3});
    watched = p.shared();
    ComputationGraph h;
    parameter(h, p);
  }
  CHECK(watched.expired());
}

TEST_CASE("clear keeps the memory and touches no node") {
  ComputationGraph g;
  const auto build = [&] {
    Expression x = input(g, {4}, {1, 2, 3, 4});
    for (int k = 0; k < 50'000; ++k) x = tanh(x + x);
    return x;
  };
  build();
  const GraphStore& store = g.store();
  const std::size_t nodes = store.nodes.capacity(), args = store.args.capacity(),
                    attrs = store.attrs.capacity();
  const Node* const first = store.nodes.data();
  const Node before = store.nodes[77];
  const std::uint64_t serial = store.origins[77].serial;
  g.clear();
  CHECK(g.size() == 0);
  CHECK(store.nodes.capacity() == nodes);
  CHECK(store.args.capacity() == args);
  CHECK(store.attrs.capacity() == attrs);
  // The node is unchanged: clear did not visit the nodes.
  CHECK(store.nodes.data() == first);
  CHECK(store.nodes.data()[77].form == before.form);
  CHECK(store.origins.data()[77].serial == serial);
  build();
  CHECK(store.nodes.capacity() == nodes);
  CHECK(store.nodes.data() == first);
}

TEST_CASE("a graph reuses the memory of a destroyed graph") {
  release_graph_memory();
  const Node* nodes = nullptr;
  const float* values = nullptr;
  for (int round = 0; round < 5; ++round) {
    ComputationGraph g;
    const Expression x = input(g, 1.0f);
    const float* v = tanh(x).value().v;
    if (round > 0) {
      CHECK(g.store().nodes.data() == nodes);
      CHECK(v == values);
    }
    nodes = g.store().nodes.data();
    values = v;
  }
}

TEST_CASE("a graph starts with default settings whatever the previous graph had") {
  Expression e;
  {
    ComputationGraph g(true);
    g.set_immediate_compute(true);
    g.set_check_validity(true);
    g.checkpoint();
    g.set_seed(3);
    e = input(g, 1.0f);
  }
  ComputationGraph g;
  CHECK(g.size() == 0);
  CHECK_THROWS_AS(g.revert(), ArgumentError);
  const Expression x = log(input(g, -1.0f));  // NaN, neither computed immediately nor checked
  CHECK_FALSE(x.value().is_valid());
}

TEST_CASE("graphs draw differently by default and equally from one seed") {
  const auto draw = [](std::uint64_t seed) {
    ComputationGraph g;
    if (seed) g.set_seed(seed);
    return as_vector(random_uniform(g, {20}, 0.0f, 1.0f).value());
  };
  CHECK(draw(0) != draw(0));
  CHECK(draw(7) == draw(7));
  CHECK(draw(7) != draw(8));
  ComputationGraph g;
  g.set_seed(7);
  const Expression a = random_uniform(g, {20}, 0.0f, 1.0f);
  const Expression b = random_uniform(g, {20}, 0.0f, 1.0f);
  CHECK(as_vector(a.value()) == draw(7));
  CHECK(as_vector(b.value()) != as_vector(a.value()));
}

TEST_CASE("release_graph_memory leaves live graphs alone") {
  ComputationGraph g;
  const Expression x = tanh(input(g, 0.5f));
  const float before = as_scalar(x.value());
  {
    ComputationGraph other;
    input(other, 1.0f).value();
  }
  release_graph_memory();
  CHECK(as_scalar(x.value()) == before);
  CHECK(as_scalar((x + 1.0f).value()) == before + 1.0f);
  {
    ComputationGraph other;
    CHECK(as_scalar(tanh(input(other, 0.5f)).value()) == before);
  }
}

}  // namespace life_test
