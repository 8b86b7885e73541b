// Handles without a live node are detected, whatever became of the memory behind them.

#include <new>

#include "tests/support/prelude.h"

namespace stale_test {

using namespace dynet;

namespace {

/// Checks that every use of a handle throws, with the line of the use.
void check_unusable(const Expression& e, const std::string& reason) {
  const auto check = [&](auto&& use, unsigned line) {
    CAPTURE(reason, line);
    const auto error = thrown<StaleExpressionError>(use);
    CHECK_THAT(error.what(), Catch::Contains(reason) && Catch::Contains(__FILE__ ":"));
    CHECK(error.where().line == line);
    CHECK(std::string(error.where().file) == __FILE__);
  };
  ComputationGraph g;
  const Expression good = input(g, 3.0f);
  check([&] { e.value(); }, __LINE__);
  check([&] { e.gradient(); }, __LINE__);
  check([&] { e.dim(); }, __LINE__);
  check([&] { tanh(e); }, __LINE__);
  check([&] { -e; }, __LINE__);
  check([&] { e + 1.0f; }, __LINE__);
  check([&] { e* e; }, __LINE__);
  check([&] { cmult(e, e); }, __LINE__);
  check([&] { sum({e, e, e}); }, __LINE__);
  check([&] { dropout(e, 0.5f); }, __LINE__);
  check([&] { g.forward(e); }, __LINE__);
  check([&] { g.incremental_forward(e); }, __LINE__);
  check([&] { g.backward(e); }, __LINE__);
  check([&] { g.get_value(e); }, __LINE__);
  check([&] { g.get_gradient(e); }, __LINE__);
  CHECK(e.is_stale());
  // A stale handle is refused as a later operand as well, and the graph stays usable.
  CHECK_THROWS_AS(good + e, StaleExpressionError);
  CHECK_THROWS_AS(concatenate({good, good, e}), StaleExpressionError);
  CHECK(g.size() == 1);
  CHECK(as_scalar((good + good).value()) == 6);
}

}  // namespace

TEST_CASE("an empty expression is refused") {
  CHECK(Expression().is_stale());
  check_unusable(Expression(), "is empty: it belongs to no graph");
}

TEST_CASE("an expression of a cleared graph is refused") {
  ComputationGraph g;
  const Expression a = input(g, 1.0f), b = tanh(a);
  b.value();
  g.clear();
  check_unusable(a, "is stale");
  check_unusable(b, "is stale");
  // New nodes with the same indices do not revive it.
  const Expression c = input(g, 2.0f), d = tanh(c);
  CHECK(c.i == a.i);
  check_unusable(a, "is stale");
  check_unusable(b, "is stale");
  CHECK(as_scalar(c.value()) == 2);
  CHECK_FALSE(d.is_stale());
}

TEST_CASE("an expression of a destroyed graph is refused") {
  Expression e;
  {
    ComputationGraph g;
    e = tanh(input(g, 1.0f));
    e.value();
  }
  check_unusable(e, "is stale");
  release_graph_memory();
  check_unusable(e, "is stale");
}

TEST_CASE("a graph at the address of a destroyed one does not revive its expressions") {
  alignas(ComputationGraph) std::byte memory[sizeof(ComputationGraph)];
  auto* g = new (memory) ComputationGraph;
  const Expression old = input(*g, 1.0f);
  g->~ComputationGraph();
  g = new (memory) ComputationGraph;
  const Expression fresh = input(*g, 2.0f);
  CHECK(fresh.pg == old.pg);
  check_unusable(old, "is stale");
  CHECK_THROWS_AS(fresh + old, StaleExpressionError);
  CHECK_THROWS_AS(old + fresh, StaleExpressionError);
  CHECK(as_scalar(fresh.value()) == 2);
  g->~ComputationGraph();
}

TEST_CASE("construction and destruction of graphs never revive an expression") {
  std::vector<Expression> stale;
  for (int round = 0; round < 200; ++round) {
    ComputationGraph g;
    std::optional<ComputationGraph> other;
    if (round % 3 == 0) other.emplace();
    for (int k = 0; k <= round % 7; ++k) stale.push_back(input(g, 1.0f * k));
    if (round % 2) g.clear();
    if (round % 5 == 0) input(g, 3.0f);
    if (round % 10 == 0) release_graph_memory();
    if (other) stale.push_back(input(*other, 1.0f));
  }
  ComputationGraph g;
  for (int k = 0; k < 10; ++k) input(g, 1.0f);
  for (const Expression& e : stale) {
    REQUIRE(e.is_stale());
    REQUIRE_THROWS_AS(e.value(), StaleExpressionError);
  }
}

TEST_CASE("an expression of a reverted node is refused, also when its index is reused") {
  ComputationGraph g;
  const Expression a = input(g, 2.0f);
  g.checkpoint();
  const Expression b = square(a);
  CHECK(as_scalar(b.value()) == 4);
  g.revert();
  check_unusable(b, "is stale");
  const Expression c = cube(a);
  CHECK(c.i == b.i);
  check_unusable(b, "is stale");
  CHECK(as_scalar(c.value()) == 8);
  CHECK_FALSE(a.is_stale());
}

TEST_CASE("an expression is small and copied as bytes") {
  static_assert(std::is_trivially_copyable_v<Expression>);
  static_assert(sizeof(Expression) <= 32);
  ComputationGraph g;
  const Expression a = input(g, 5.0f);
  const Expression b = a;
  CHECK(b.pg == &g);
  CHECK(as_scalar(b.value()) == 5);
}

}  // namespace stale_test
