// Every node stores the source location of the user's call.

#include "dynet-like/graph/describe.h"
#include "tests/support/prelude.h"

namespace location_test {

using namespace dynet;

namespace {

/// Source line of `e`; the file must be this one.
unsigned line_of(const Expression& e) {
  const NodeOrigin& n = e.pg->store().origins[e.i];
  CHECK(std::string(n.file) == __FILE__);
  return n.line;
}

Expression helper(const Expression& x, SourceLocation at = SourceLocation::current()) {
  return tanh(x, at);
}

}  // namespace

#define MADE_HERE(...) CHECK(line_of(__VA_ARGS__) == __LINE__)

TEST_CASE("inputs and parameters store the line of their call") {
  ParameterCollection pc;
  auto p = pc.add_parameters({3});
  auto e = pc.add_lookup_parameters(5, {3});
  ComputationGraph g;
  const float number = 1;
  const unsigned index = 2;
  const std::vector<float> three(3);
  const std::vector<unsigned> indices{1, 2};
  MADE_HERE(input(g, 1.0f));
  MADE_HERE(input(g, 1));
  MADE_HERE(input(g, &number));
  MADE_HERE(input(g, {3}, {1, 2, 3}));
  MADE_HERE(input(g, {3}, &three));
  MADE_HERE(one_hot(g, 3, 1));
  MADE_HERE(one_hot(g, 3, indices));
  MADE_HERE(zeros(g, {3}));
  MADE_HERE(ones(g, {3}));
  MADE_HERE(constant(g, {3}, 4));
  MADE_HERE(parameter(g, p));
  MADE_HERE(parameter(g, e));
  MADE_HERE(const_parameter(g, p));
  MADE_HERE(const_parameter(g, e));
  MADE_HERE(lookup(g, e, 1));
  MADE_HERE(lookup(g, e, &index));
  MADE_HERE(lookup(g, e, indices));
  MADE_HERE(lookup(g, e, &indices));
  MADE_HERE(const_lookup(g, e, 1));
  MADE_HERE(const_lookup(g, e, &index));
  MADE_HERE(const_lookup(g, e, indices));
  MADE_HERE(const_lookup(g, e, &indices));
  MADE_HERE(random_normal(g, {3}));
  MADE_HERE(random_bernoulli(g, {3}, 0.5f));
  MADE_HERE(random_uniform(g, {3}, 0, 1));
}

TEST_CASE("operators store the line of their use") {
  ComputationGraph g;
  const Expression x = input(g, {2, 2}, {1, 2, 3, 4});
  MADE_HERE(x + x);
  MADE_HERE(x - x);
  MADE_HERE(x * x);
  MADE_HERE(x / x);
  MADE_HERE(-x);
  MADE_HERE(x + 1.0f);
  MADE_HERE(1.0f + x);
  MADE_HERE(x - 1.0f);
  MADE_HERE(1.0f - x);
  MADE_HERE(x * 2.0f);
  MADE_HERE(2.0f * x);
  MADE_HERE(x / 2.0f);
  // The line of an operator is the line of its left operand, in an expression over several lines.
  const unsigned line = __LINE__ + 1;
  const Expression y = x * x + x;
  CHECK(line_of(y) >= line);
  CHECK(line_of(y) <= line + 2);
}

TEST_CASE("a function of the user's own may pass its caller's line on") {
  ComputationGraph g;
  MADE_HERE(helper(input(g, 1.0f)));
}

TEST_CASE("builders pass on the line of their caller to every node") {
  ParameterCollection pc;
  VanillaLSTMBuilder lstm(2, 3, 4, pc);
  SimpleRNNBuilder rnn(2, 3, 4, pc, true);
  lstm.set_dropout(0.5f);
  ComputationGraph g;
  const Expression x = input(g, {3}, {1, 2, 3}), aux = input(g, {4}, {1, 2, 3, 4});
  const auto all_from = [&](std::size_t first, unsigned line) {
    REQUIRE(g.size() > first);
    for (std::size_t i = first; i < g.size(); ++i) {
      const NodeOrigin& n = g.store().origins[i];
      CHECK(std::string(n.file) == __FILE__);
      CHECK(n.line == line);
    }
  };
  std::size_t first = g.size();
  lstm.new_graph(g), all_from(first, __LINE__);
  lstm.start_new_sequence();
  for (int step = 0; step < 2; ++step) {
    first = g.size();
    lstm.add_input(x), all_from(first, __LINE__);
  }
  rnn.new_graph(g);
  rnn.start_new_sequence();
  for (int step = 0; step < 2; ++step) {
    first = g.size();
    rnn.add_auxiliary_input(x, aux), all_from(first, __LINE__);
  }
}

TEST_CASE("an error in an operator names the user's line") {
  ComputationGraph g;
  const Expression x = input(g, {2}, {1, 2}), y = input(g, {3}, {1, 2, 3});
  const auto check = [&](auto&& use, unsigned line) {
    try {
      use();
      FAIL("nothing was thrown");
    } catch (const Error& e) {
      CHECK(e.where().line == line);
      CHECK(std::string(e.where().file) == __FILE__);
      const std::string place = to_string(SourceLocation{__FILE__, line});
      CHECK(std::string(e.what()).find("at " + place) != std::string::npos);
    }
  };
  check([&] { x + y; }, __LINE__);
  check([&] { x* y; }, __LINE__);
  check([&] { cmult(x, y); }, __LINE__);
  check([&] { concatenate_cols({x, y}); }, __LINE__);
  check([&] { pick(x, 2); }, __LINE__);
  check([&] { g.backward(x); }, __LINE__);
  check([&] { x.gradient(); }, __LINE__);
  CHECK(g.size() == 2);
}

#undef MADE_HERE

}  // namespace location_test
