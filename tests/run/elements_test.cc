// Which elements are checked, and that none of them hides another.

#include "tests/support/prelude.h"

namespace elements_test {

using namespace dynet;

TEST_CASE("check_gradients looks at every row that is used, and at no other") {
  ParameterCollection pc;
  auto table = pc.add_lookup_parameters(9, {4});
  ComputationGraph g;
  const Expression loss =
      squared_norm(lookup(g, table, 7)) +
      sum_batches(squared_norm(lookup(g, table, std::vector<unsigned>{2, 5, 2})));
  GradientCheckOptions options;
  options.max_elements = 0;
  const GradientReport report = check_gradients(loss, options);
  CHECK(report.parameters == 1);
  CHECK(report.elements == 3 * 4);
  CHECK(report.ok());
}

TEST_CASE("check_gradients tells in which row the worst element is") {
  ParameterCollection pc;
  auto table = pc.add_lookup_parameters(6, {5});
  for (const unsigned wrong : {0u, 1u, 4u, 5u}) {
    ComputationGraph g;
    std::vector<Expression> parts;
    for (const unsigned row : {0u, 1u, 4u, 5u}) {
      const Expression x = lookup(g, table, row);
      parts.push_back(sum_elems(row == wrong ? nobackprop(x) : x));
    }
    const GradientReport report = check_gradients(sum(parts));
    CHECK_FALSE(report.ok());
    CHECK(report.worst_element / 5 == wrong);
    CHECK(report.worst_backward == 0);
    CHECK(report.worst_measured == Approx(1));
  }
}

TEST_CASE("check_gradients finds a NaN behind a parameter that is right") {
  ParameterCollection pc;
  auto right = pc.add_parameters({2}, ParameterInitConst(1.0f)),
       wrong = pc.add_parameters({1}, ParameterInitConst(0.0f)),
       last = pc.add_parameters({2}, ParameterInitConst(1.0f));
  ComputationGraph g;
  const Expression nothing = input(g, 0.0f);
  const Expression loss = squared_norm(parameter(g, right)) +
                          cmult(sqrt(parameter(g, wrong)), nothing) +
                          squared_norm(parameter(g, last));
  const GradientReport report = check_gradients(loss);
  CHECK(report.loss == Approx(4));
  CHECK(report.parameters == 3);
  CHECK(report.max_error == std::numeric_limits<double>::infinity());
  CHECK(report.worst_parameter == wrong.get_fullname());
  CHECK_FALSE(report.ok());
}

}  // namespace elements_test
