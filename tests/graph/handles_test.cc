// Errors of graphs and their messages; nodes by index.

#include "dynet-like/graph/check.h"
#include "dynet-like/graph/graph_state.h"
#include "dynet-like/shape/broken.h"
#include "tests/support/prelude.h"

namespace handles_test {

using namespace dynet;

namespace {

using Catch::Contains;

Dim of_first(shape::Dims xs) { return *xs[0]; }
Dim refuse(shape::Dims) { shape::broken("no index is right", shape::Kind::index); }

}  // namespace

TEST_CASE("an expression made from an index refers to an existing node") {
  ComputationGraph g;
  const Expression x = input(g, 2.0f), y = x * 3.0f;
  CHECK(as_scalar(Expression(&g, y.i).value()) == 6);
  CHECK(as_scalar((Expression(&g, x.i) + Expression(&g, y.i)).value()) == 8);
  CHECK_THROWS_AS(Expression(&g, static_cast<VariableIndex>(g.size())), IndexError);
  CHECK_THROWS_AS(Expression(nullptr, 0), ArgumentError);
  const Expression again(&g, x.i);
  g.clear();
  CHECK(again.is_stale());
}

TEST_CASE("NodeList lists all nodes and throws IndexError after the last") {
  ComputationGraph g;
  input(g, 1.0f);
  const Expression y = tanh(input(g, 2.0f));
  const NodeList list{g};
  REQUIRE(list.size() == 3);
  CHECK(std::string(list[2]->form->name.value) == "tanh");
  CHECK(list[2] == &g.store().nodes[y.i]);
  CHECK_THROWS_AS(list[3], IndexError);
}

TEST_CASE("forward runs again, incremental_forward does not; neither runs another's expression") {
  ComputationGraph g, other;
  float number = 1;
  const Expression x = input(g, &number), y = x * 2.0f, foreign = input(other, 1.0f);
  CHECK(as_scalar(g.incremental_forward(y)) == 2);
  number = 5;
  CHECK(as_scalar(g.forward(y)) == 10);
  for (const auto& run : {+[](ComputationGraph&a, const Expression&e) { a.forward(e); },
                          +[](ComputationGraph&a, const Expression&e) { a.incremental_forward(e); },
                          +[](ComputationGraph&a, const Expression&e) { a.backward(e); },
                          +[](ComputationGraph&a, const Expression&e) { a.get_value(e); },
                          +[](ComputationGraph&a, const Expression&e) { a.get_gradient(e); }})
    CHECK_THAT(message<StaleExpressionError>([&] { run(g, foreign); }),
               Contains("belongs to another graph"));
}

TEST_CASE("nodes need no gradient above frozen parameters and gradient stops") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}), frozen = pc.add_parameters({2});
  auto table = pc.add_lookup_parameters(2, {2});
  frozen.set_updated(false);
  table.set_updated(false);
  ComputationGraph g;
  const auto needs = [&](const Expression& e) { return g.store().nodes[e.i].needs_gradient(); };
  CHECK(needs(parameter(g, p)));
  CHECK(needs(tanh(parameter(g, p)) + parameter(g, frozen)));
  CHECK_FALSE(needs(parameter(g, frozen)));
  CHECK_FALSE(needs(lookup(g, table, 1)));
  CHECK_FALSE(needs(tanh(parameter(g, frozen)) + lookup(g, table, 0)));
  CHECK_FALSE(needs(const_parameter(g, p)));
  CHECK_FALSE(needs(nobackprop(parameter(g, p))));
  CHECK_FALSE(needs(tanh(nobackprop(parameter(g, p)))));
  CHECK_FALSE(needs(input(g, 1.0f)));
}

TEST_CASE("a parameter that is added again is the same node") {
  ParameterCollection pc, other;
  auto p = pc.add_parameters({2}), q = other.add_parameters({2});
  auto table = pc.add_lookup_parameters(2, {2});
  ComputationGraph g;
  const Expression first = parameter(g, p), second = parameter(g, q);
  CHECK(first.i != second.i);
  CHECK(parameter(g, q).i == second.i);
  CHECK(as_vector(parameter(g, p).value()) == as_vector(*p.values()));
  p.scale(2.0f);
  CHECK(parameter(g, p).i == first.i);
  CHECK(as_vector((parameter(g, p) * 1).value()) == as_vector(*p.values()));
  CHECK(g.store().nodes.size() == 3);

  // Other nodes: constants, whole tables, frozen parameters, nodes after a revert or `clear`.
  CHECK(const_parameter(g, p).i == 3);
  CHECK(parameter(g, table).i == 4);
  CHECK(parameter(g, p).i == 5);
  p.set_updated(false);
  CHECK(parameter(g, p).i == 6);
  p.set_updated(true);
  g.checkpoint();
  CHECK(parameter(g, p).i == 7);
  g.revert();
  input(g, 1.0f);
  CHECK(parameter(g, p).i == 8);
  g.clear();
  CHECK(parameter(g, q).i == 0);
  CHECK(parameter(g, p).i == 1);
  CHECK(as_vector(parameter(g, p).value()) == as_vector(*p.values()));
}

TEST_CASE("products with a parameter are batched wherever it was added") {
  ParameterCollection pc;
  auto W = pc.add_parameters({3, 2}), b = pc.add_parameters({3});
  const auto run = [&](bool once) {
    pc.reset_gradient();
    ComputationGraph g;
    const Expression w = parameter(g, W), bias = parameter(g, b);
    std::vector<Expression> all;
    for (unsigned k = 0; k < 10; ++k) {
      const Expression x = input(g, {2}, {static_cast<float>(k), 1});
      all.push_back(tanh(once ? affine_transform({bias, w, x})
                              : affine_transform({parameter(g, b), parameter(g, W), x})));
    }
    g.backward(sum_elems(sum(all)));
    return std::pair(g.statistics().batches, as_vector(W.gradients()));
  };
  CHECK(run(false) == run(true));
  CHECK(run(false).first < 10);
}

TEST_CASE("an error names a bad operand by its position and the reason") {
  ComputationGraph g, other;
  const Expression a = input(g, 1.0f), foreign = input(other, 1.0f);
  Expression stale, stale_of_other;
  {
    ComputationGraph gone;
    stale = input(gone, 1.0f);
  }
  other.checkpoint();
  stale_of_other = input(other, 2.0f);
  other.revert();
  const auto words = [&](const Expression& x, const Expression& y, const Expression& z) {
    return message<StaleExpressionError>([&] { sum({x, y, z}); });
  };
  CHECK_THAT(words(a, foreign, a), Contains("operand 2 belongs to another graph"));
  CHECK_THAT(words(a, a, stale), Contains("operand 3 is stale"));
  CHECK_THAT(words(a, stale_of_other, a), Contains("operand 2 is stale"));
  CHECK_THAT(words(Expression(), a, a), Contains("operand 1 is empty"));
  CHECK_THAT(message<StaleExpressionError>([&] { a + foreign; }), Contains("operand 2 belongs"));
  CHECK_THAT(message<StaleExpressionError>([&] { stale + a; }), Contains("operand 1 is stale"));
  CHECK(g.size() == 1);
}

TEST_CASE("check_operands checks the operands of a composite operation") {
  ComputationGraph g, other;
  const Expression a = input(g, 1.0f), foreign = input(other, 1.0f);
  const SourceLocation here = SourceLocation::current();
  CHECK(check_operands("made", {a, a}, of_first, here) == Dim({1}));
  CHECK_THAT(message<ArgumentError>([&] { check_operands("made", {}, of_first, here); }),
             Contains("made: needs at least one operand"));
  CHECK_THAT(message<StaleExpressionError>([&] {
               check_operands("made", {a, a, foreign}, of_first, here);
             }),
             Contains("made: operand 3 belongs to another graph"));
  CHECK_THAT(message<IndexError>([&] { check_operands("made", {a}, refuse, here); }),
             Contains("made: no index is right"));
}

TEST_CASE("an error lists the operands by number, at most eight") {
  ParameterCollection pc;
  auto p = pc.add_parameters({3}, "named");
  auto table = pc.add_lookup_parameters(2, {4}, "rows");
  ComputationGraph g;
  std::vector<Expression> xs{parameter(g, p), lookup(g, table, 1)};
  const std::string two = message<ShapeError>([&] { sum(xs); });
  CHECK_THAT(two, Contains("operand 1: {3}  parameter \"/named\", node 0, made at"));
  CHECK_THAT(two, Contains("operand 2: {4}  lookup in \"/rows\", node 1, made at"));
  CHECK_THAT(two, !Contains("more operands"));
  for (int k = 0; k < 6; ++k) xs.push_back(input(g, {5}, std::vector<float>(5)));
  CHECK_THAT(message<ShapeError>([&] { sum(xs); }),
             Contains("operand 8: {5}  input") && !Contains("more operands"));
  for (int k = 0; k < 3; ++k) xs.push_back(xs.back());
  CHECK_THAT(message<ShapeError>([&] { sum(xs); }), Contains("operand 8: {5}") &&
                                                        !Contains("operand 9") &&
                                                        Contains("and 3 more operands"));
}

TEST_CASE("a graph keeps views of values and gradients that were asked for, until it is cleared") {
  ComputationGraph g;
  const GraphState& s = state_of(g);
  const Expression x = input(g, {2}, {1, 2}), y = sum_elems(square(x));
  g.backward(y, true);
  CHECK(x.dim() == Dim({2}));
  CHECK(s.shown_values.empty());
  CHECK(as_scalar(y.value()) == 5);
  CHECK(&y.value() == &s.shown_values.at(y.i));
  CHECK(s.shown_values.size() == 1);
  CHECK(s.shown_gradients.empty());
  const Tensor& gradient = x.gradient();
  CHECK(&gradient == &s.shown_gradients.at(x.i));
  g.clear();
  CHECK(s.shown_values.empty());
  CHECK(s.shown_gradients.empty());
}

TEST_CASE("an error for a missing gradient names the expression") {
  ComputationGraph g;
  const Expression x = tanh(input(g, {3}, {1, 2, 3}));
  CHECK_THAT(message<GradientError>([&] { x.gradient(); }),
             Contains("expression: {3}  tanh, node 1") && Contains("handles_test.cc"));
}

TEST_CASE("a graph with nodes changes neither its device nor its precision") {
  ComputationGraph g;
  g.set_device(&kCpu);
  g.set_precision(Precision::float32);
  const Expression x = input(g, 1.0f);
  CHECK_THAT(message<ArgumentError>([&] { g.set_device(&kCpu); }),
             Contains("set_device: the graph has nodes already"));
  CHECK_THAT(message<ArgumentError>([&] { g.set_precision(Precision::float32); }),
             Contains("set_precision: the graph has nodes already"));
  CHECK_THROWS_AS(g.set_device(nullptr), ArgumentError);
  g.clear();
  g.set_device(&kCpu);
  CHECK(x.is_stale());
}

TEST_CASE("get_value and get_gradient return tensors of the graph's expressions") {
  ComputationGraph g;
  const Expression x = input(g, 3.0f), y = square(x);
  CHECK(as_scalar(g.get_value(y)) == 9);
  g.backward(y, true);
  CHECK(as_scalar(g.get_gradient(x)) == 6);
  std::ostringstream out;
  g.print_graphviz(out);
  CHECK(g.print_graphviz() == out.str());
}

TEST_CASE("all operands are checked before the second result of one becomes a node") {
  ComputationGraph g, elsewhere;
  const auto cell = [](ComputationGraph& graph) {
    return lstm_cell(zeros(graph, {4}), {zeros(graph, {1})}).c;
  };
  std::vector<Expression> operands(18, cell(g));
  const std::size_t nodes = g.size();
  operands[17] = cell(elsewhere);
  CHECK_THROWS_AS(sum(operands), StaleExpressionError);
  elsewhere.clear();
  CHECK_THROWS_AS(sum(operands), StaleExpressionError);
  CHECK_THROWS_AS(
      affine_transform({operands[0], operands[0], operands[17], operands[17], operands[0]}),
      StaleExpressionError);
  operands[17] = Expression(&g, 0);
  operands[17].result = 1;  // of a node that has one result
  CHECK_THROWS_AS(concatenate(operands), ArgumentError);
  CHECK(g.size() == nodes);
}

}  // namespace handles_test
