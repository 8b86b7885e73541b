#include "tests/ops/mistakes.h"

namespace dynet::test {

std::vector<Mistake> Bench::value_mistakes() {
  return {
      {SourceLocation::current(), [&] { reshape(x, {3}); }, raises<ShapeError>,
       "reshape: the number of elements must stay the same, got 2 and 3\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { reshape(x3, {5}); }, raises<ShapeError>,
       "reshape: the number of elements must stay the same, got 6 and 5\n"
       "  operand 1: {2X3}  constant, node 4, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { transpose(cube3); }, raises<ArgumentError>,
       "transpose: needs an order of all 3 dimensions, got 2\n"
       "  operand 1: {2,3,2}  constant, node 10, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         transpose(W, {0, 0});
       },
       raises<ArgumentError>,
       "transpose: the order must name every dimension once\n"
       "  operand 1: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         transpose(W, {0, 2});
       },
       raises<ArgumentError>,
       "transpose: the order must name every dimension once\n"
       "  operand 1: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         transpose(W, {0, 1, 2, 3, 4, 5, 6, 7});
       },
       raises<ArgumentError>,
       "transpose: needs an order of all 2 dimensions, got 8\n"
       "  operand 1: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { concatenate(none); }, raises<ArgumentError>,
       "concatenate: needs at least one operand\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         concatenate({x, W});
       },
       raises<ShapeError>,
       "concatenate: all sizes but dimension 0 must be equal, dimension 1 has 1 and 2\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         concatenate({x, x}, 7);
       },
       raises<IndexError>,
       "concatenate: dimension 7 is outside the 7 possible\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         concatenate({x3, x2});
       },
       raises<ShapeError>,
       "concatenate: batch sizes must be equal or 1, got 3 and 2\n"
       "  operand 1: {2X3}  constant, node 4, made at HERE\n"
       "  operand 2: {2X2}  constant, node 5, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         concatenate_cols({x, y});
       },
       raises<ShapeError>,
       "concatenate_cols: all sizes but dimension 1 must be equal, dimension 0 has 2 and 3\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         concatenate_to_batch({x, y});
       },
       raises<ShapeError>,
       "concatenate_to_batch: all operands must have the same sizes, got {2} and {3}\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { concatenate_to_batch(none); }, raises<ArgumentError>,
       "concatenate_to_batch: needs at least one operand\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { dropout(x, 1.0f); }, raises<ArgumentError>,
       "dropout: the probability must be at least 0 and below 1, got 1\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { dropout(x, -0.25f); }, raises<ArgumentError>,
       "dropout: the probability must be at least 0 and below 1, got -0.25\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { dropout(x, nan); }, raises<ArgumentError>,
       "dropout: the probability must be at least 0 and below 1, got nan\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { noise(x, -1.0f); }, raises<ArgumentError>,
       "noise: the standard deviation must be finite and not negative, got -1\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { random_normal(g, {2}, 0, -1); }, raises<ArgumentError>,
       "random_normal: the standard deviation must be finite and not negative, got -1\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { random_bernoulli(g, {2}, 1.5f); }, raises<ArgumentError>,
       "random_bernoulli: the probability must be between 0 and 1, got 1.5\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { random_uniform(g, {2}, 1, 0); }, raises<ArgumentError>,
       "random_uniform: [1, 0) is not an interval\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         input(g, {2}, {1, 2, 3});
       },
       raises<ArgumentError>,
       "input: the shape {2} needs 2 values, got 3\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { input(g, {2}, &three); }, raises<ArgumentError>,
       "input: the shape {2} needs 2 values, got 3\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { input(g, static_cast<const float*>(nullptr)); },
       raises<ArgumentError>,
       "input: the pointer is null\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] { input(g, {2}, static_cast<const std::vector<float>*>(nullptr)); },
       raises<ArgumentError>,
       "input: the pointer is null\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { one_hot(g, 3, 3); }, raises<IndexError>,
       "one_hot: index 3 is outside the 3 elements\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         one_hot(g, 3, {0, 4});
       },
       raises<IndexError>,
       "one_hot: index 4 is outside the 3 elements\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { one_hot(g, 3, std::vector<unsigned>()); },
       raises<ArgumentError>,
       "one_hot: needs at least one index\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         zeros(g, {4000000000, 4000000000});
       },
       raises<ArgumentError>,
       "zeros: the result has too many elements: {4000000000,4000000000}\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { parameter(g, Parameter()); }, raises<ArgumentError>,
       "parameter: the parameter is empty: it belongs to no ParameterCollection\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { lookup(g, LookupParameter(), 0); }, raises<ArgumentError>,
       "lookup: the parameter is empty: it belongs to no ParameterCollection\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { lookup(g, table, 5); }, raises<IndexError>,
       "lookup: index 5 is outside the 5 rows of \"/words\"\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { lookup(g, table, -1); }, raises<IndexError>,
       "lookup: the index must not be negative, got -1\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         lookup(g, table, {0, 5});
       },
       raises<IndexError>,
       "lookup: index 5 is outside the 5 rows of \"/words\"\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { lookup(g, table, std::vector<unsigned>()); },
       raises<ArgumentError>,
       "lookup: needs at least one index\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { lookup(g, table, no_index); }, raises<ArgumentError>,
       "lookup: the pointer to the indices is null\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { lookup(g, table, no_indices); }, raises<ArgumentError>,
       "lookup: the pointer to the indices is null\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { const_lookup(g, table, 5); }, raises<IndexError>,
       "const_lookup: index 5 is outside the 5 rows of \"/words\"\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { vanilla_lstm_gates(x, x, W, W, b); }, raises<ShapeError>,
       "vanilla_lstm_gates: the gates must be a multiple of four long, got 3\n"
       "  operand 1: {3}  constant, node 3, made at HERE\n"
       "  operand 2: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  operand 3: {2}  input, node 0, made at HERE\n"
       "  operand 4: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  operand 5: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { vanilla_lstm_gates(x, x, gates, W, x); },
       raises<ShapeError>,
       "vanilla_lstm_gates: every product must have the same shape, got {2} and {3}\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {2,2}  constant, node 9, made at HERE\n"
       "  operand 3: {2}  input, node 0, made at HERE\n"
       "  operand 4: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  operand 5: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { vanilla_lstm_c(x, y); }, raises<ShapeError>,
       "vanilla_lstm_c: the gates must be a multiple of four long, got 3\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { vanilla_lstm_h(x, y); }, raises<ShapeError>,
       "vanilla_lstm_h: the gates must be a multiple of four long, got 3\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { tree_lstm_gates(y, 1); }, raises<ShapeError>,
       "tree_lstm_gates: the gates must be a multiple of 4 long, three and one for each child, got "
       "3\n"
       "  operand 1: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { tree_lstm_c({x}, y); }, raises<ShapeError>,
       "tree_lstm_c: the gates must be a multiple of 4 long, three and one for each child, got 3\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { tree_lstm_h(x, y); }, raises<ShapeError>,
       "tree_lstm_h: the gates must be three or more times as long as the cell, got 3 and 2\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { tanh(Expression()); }, raises<StaleExpressionError>,
       "tanh: operand 1 is empty: it belongs to no graph\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { x + Expression(); }, raises<StaleExpressionError>,
       "operator+: operand 2 is empty: it belongs to no graph\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { Expression() + x; }, raises<StaleExpressionError>,
       "operator+: operand 1 is empty: it belongs to no graph\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { dropout(Expression(), 0.5f); },
       raises<StaleExpressionError>,
       "dropout: operand 1 is empty: it belongs to no graph\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { x + foreign; }, raises<StaleExpressionError>,
       "operator+: operand 2 belongs to another graph than the first operand\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         concatenate({x, foreign});
       },
       raises<StaleExpressionError>,
       "concatenate: operand 2 belongs to another graph than the first operand\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         affine_transform({b, foreign, x});
       },
       raises<StaleExpressionError>,
       "affine_transform: operand 2 belongs to another graph than the first operand\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { -reverted; }, raises<StaleExpressionError>,
       "operator-: operand 1 is stale: its graph was cleared, reverted or destroyed\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { cmult(x, reverted); }, raises<StaleExpressionError>,
       "cmult: operand 2 is stale: its graph was cleared, reverted or destroyed\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         sum({x, destroyed});
       },
       raises<StaleExpressionError>,
       "sum: operand 2 is stale: its graph was cleared, reverted or destroyed\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { destroyed.value(); }, raises<StaleExpressionError>,
       "value: the expression is stale: its graph was cleared, reverted or destroyed\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { g.backward(x); }, raises<ShapeError>,
       "backward: the loss must be one number\n"
       "  loss: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { g.backward(foreign); }, raises<StaleExpressionError>,
       "backward: the expression belongs to another graph\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { g.forward(reverted); }, raises<StaleExpressionError>,
       "forward: the expression is stale: its graph was cleared, reverted or destroyed\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { x.gradient(); }, raises<GradientError>,
       "gradient: no backward pass has covered this expression\n"
       "  expression: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { g.revert(); }, raises<ArgumentError>,
       "revert: there is no checkpoint\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         Dim({2, 3}, 0);
       },
       raises<ArgumentError>, "Dim: the batch size must be at least 1, got 0"},
      {SourceLocation::current(),
       [&] {
         Dim({1, 1, 1, 1, 1, 1, 1, 1});
       },
       raises<ArgumentError>, "Dim: a shape has at most 7 sizes, got 8"},
  };
}

TEST_CASE("mistakes in lists, values and handles throw at their line and harm nothing") {
  Bench bench;
  const std::vector<Mistake> all = bench.value_mistakes();
  CHECK(all.size() >= 55);
  check_mistakes(bench, all);
}

}  // namespace dynet::test
