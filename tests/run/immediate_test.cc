#include "tests/support/prelude.h"

namespace immediate_test {

using namespace dynet;

using Catch::Contains;

TEST_CASE("immediate mode computes a node as soon as it is made") {
  ComputationGraph g;
  g.set_immediate_compute(true);
  float number = 1;
  const Expression x = input(g, &number);
  number = 5;
  const Expression y = x * 2.0f;
  CHECK(as_scalar(y.value()) == 2);
  CHECK(as_scalar(g.forward(y)) == 10);
  // Nodes made before immediate mode are computed with the next node.
  g.set_immediate_compute(false);
  float later = 3;
  const Expression z = input(g, &later);
  g.set_immediate_compute(true);
  const Expression w = z + 1.0f;
  later = 100;
  CHECK(as_scalar(w.value()) == 4);
}

TEST_CASE("immediate mode throws at the line of the node and removes the node") {
  ParameterCollection pc;
  auto table = pc.add_lookup_parameters(3, {2}, ParameterInitConst(1.0f));
  ComputationGraph g;
  g.set_immediate_compute(true);
  unsigned index = 7;
  const Expression x = input(g, {3}, {1, 2, 3});
  const std::size_t size = g.size();
  Expression made;
  const auto error = thrown<IndexError>([&] { made = pick(x, &index); });
  CHECK(error.where().line == __LINE__ - 1);
  CHECK(g.size() == size);
  CHECK(made.is_stale());
  const auto other = thrown<IndexError>([&] { lookup(g, table, &index); });
  CHECK(other.where().line == __LINE__ - 1);
  CHECK(g.size() == size);
  index = 2;
  const Expression y = cmult(pick(x, &index), lookup(g, table, &index));
  g.backward(sum_elems(y));
  CHECK(as_vector(y.value()) == std::vector<float>{3, 3});
  CHECK(table.row_gradient(2) == std::vector<float>{3, 3});
}

TEST_CASE("immediate mode with the validity check throws at the line of a NaN") {
  ComputationGraph g;
  g.set_immediate_compute(true);
  g.set_check_validity(true);
  const Expression x = input(g, {2}, {4, -1});
  const auto error = thrown<NumericError>([&] { log(x); });
  CHECK(error.where().line == __LINE__ - 1);
  CHECK(std::string(error.where().file) == __FILE__);
  CHECK(g.size() == 1);
  CHECK(as_vector(square(x).value()) == std::vector<float>{16, 1});
  g.set_check_validity(false);
  CHECK_FALSE(log(x).value().is_valid());
}

TEST_CASE("the forward check names the first bad node, its operands and its line") {
  for (const bool batched : {false, true}) {
    ParameterCollection pc;
    auto p = pc.add_parameters({2}, "bias");
    p.set_value({1, -1});
    ComputationGraph g(batched);
    g.set_check_validity(true);
    const Expression fine = tanh(parameter(g, p));
    const Expression bad = log(parameter(g, p));
    const unsigned line = __LINE__ - 1;
    const Expression end = sum_elems(exp(bad + fine));
    const auto error = thrown<NumericError>([&] { end.value(); });
    CHECK(error.where().line == line);
    CHECK_THAT(error.what(),
               Contains("log: the value has a NaN at element 1") &&
                   Contains("{2}  log, node 2, made at " __FILE__ ":" + std::to_string(line)) &&
                   Contains("operand 1: {2}  parameter \"/bias\""));
    CHECK_THROWS_AS(g.backward(end), NumericError);
    CHECK(as_vector(p.gradients()) == std::vector<float>{0, 0});
    p.set_value({1, 1});
    CHECK(as_scalar(end.value()) == Approx(2 * std::exp(std::tanh(1.0f))));
  }
}

TEST_CASE("the validity check names the node that computed a bad gradient") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, "weights");
  p.set_value({4, 0});
  for (const bool batched : {false, true}) {
    pc.reset_gradient();
    ComputationGraph g(batched);
    g.set_check_validity(true);
    const Expression x = parameter(g, p);
    const Expression root = sqrt(x);
    const unsigned line = __LINE__ - 1;
    const Expression end = sum_elems(root * 2.0f);
    CHECK(as_scalar(end.value()) == 4);
    const auto error = thrown<NumericError>([&] { g.backward(end); });
    CHECK(error.where().line == line);
    CHECK_THAT(error.what(),
               Contains("sqrt: backward gave the gradient of an operand a infinity at element 1") &&
                   Contains("operand: {2}  parameter \"/weights\"") &&
                   Contains("made at " __FILE__ ":" + std::to_string(line)));
    CHECK_THROWS_AS(root.gradient(), GradientError);
    // The graph stays usable; the failed pass's sums are dropped by reset_gradient.
    pc.reset_gradient();
    g.backward(sum_elems(square(x)));
    CHECK(as_vector(p.gradients()) == std::vector<float>{8, 0});
  }
}

}  // namespace immediate_test
