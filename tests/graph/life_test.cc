#include <utility>

#include "dynet-like/graph/graph_state.h"
#include "tests/support/prelude.h"

namespace life_test {

using namespace dynet;

static_assert(!std::is_copy_constructible_v<ComputationGraph>);
static_assert(!std::is_move_constructible_v<ComputationGraph>);
static_assert(!std::is_copy_assignable_v<ComputationGraph>);

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
  CHECK_THAT(message<ShapeError>([&] { x* x; }), Catch::Contains("parameter \"/W\""));
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

TEST_CASE("a large graph's memory is given back after some small ones") {
  const auto run = [](ComputationGraph& g, unsigned nodes) {
    Expression x = input(g, {1000}, std::vector<float>(1000, 0.5f));
    for (unsigned k = 0; k < nodes; ++k) x = tanh(x);
    g.backward(sum_elems(x), true);
    return g.store().nodes.capacity();
  };
  release_graph_memory();
  std::size_t small = 0, large = 0, last = 0;
  const auto each = [&](std::size_t& capacity, unsigned nodes) {
    ComputationGraph g;
    capacity = run(g, nodes);
  };
  each(small, 10);
  each(large, 20000);  // 160 MB of values and gradients
  CHECK(large >= 20000);
  // A few small graphs may come between large ones.
  for (int k = 0; k < 3; ++k) each(last, 10);
  CHECK(last == large);
  each(last, 20000);
  for (int k = 0; k < 8; ++k) each(last, 10);
  CHECK(last == small);
  // The same where one graph is renewed.
  ComputationGraph g;
  CHECK(run(g, 20000) == large);
  for (int k = 0; k < 8; ++k) {
    g.renew();
    last = run(g, 10);
  }
  CHECK(last == small);
}

TEST_CASE("release_graph_memory leaves living graphs alone") {
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
