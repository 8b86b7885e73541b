// Plans of one graph: rows, statistics, checks of validity.

#include "tests/support/prelude.h"

namespace plans_test {

using namespace dynet;

TEST_CASE("rows that were copied for one lookup are copied once, and not for the next graph") {
  ParameterCollection pc;
  auto table = pc.add_lookup_parameters(4, {4});
  const std::vector<unsigned> rows{1, 2}, others{0, 3};
  ComputationGraph g;
  lookup(g, table, rows).value();
  g.clear();
  const Expression x = input(g, Dim({4}, 2), Floats(8, 7.0f));  // reuses the memory of the rows
  values(x);
  const Expression y = lookup(g, table, others), z = lookup(g, table, rows);
  g.backward(sum_batches(sum_elems(y + z * 10.0f)));
  CHECK(values(x) == Floats(8, 7.0f));
  for (unsigned i = 0; i < 4; ++i)
    CHECK(table.row_gradient(i) == Floats(4, i % 3 == 0 ? 1.0f : 10.0f));
}

TEST_CASE("statistics count batches that ran, and none for views and parameters") {
  ParameterCollection pc;
  auto p = pc.add_parameters({4});
  ComputationGraph g;
  const Expression x = parameter(g, p), r = reshape(x, {2, 2}), y = tanh(r);
  CHECK(g.statistics().batches == 0);
  values(y);
  CHECK(g.statistics().batches == 1);
  square(y);  // never runs
  CHECK(g.statistics().nodes == 4);
}

TEST_CASE("the validity check looks at every node of a batch") {
  for (const unsigned bad : {0u, 1u, 700u, 1999u}) {
    ComputationGraph g;
    g.set_check_validity(true);
    std::vector<Expression> logs;
    for (unsigned k = 0; k < 2000; ++k)
      logs.push_back(log(input(g, {64}, Floats(64, k == bad ? -1.0f : 2.0f))));
    CAPTURE(bad);
    CHECK_THROWS_AS(logs.back().value(), NumericError);
    CHECK_THROWS_WITH(logs.back().value(), Catch::Contains("NaN at element 0"));
  }
}

TEST_CASE("the validity check checks the gradients of every node of a batch") {
  for (const unsigned bad : {0u, 1u, 5u}) {
    ParameterCollection pc;
    std::vector<Parameter> ps;
    ComputationGraph g;
    g.set_check_validity(true);
    std::vector<Expression> xs, losses;
    for (unsigned k = 0; k < 6; ++k) {
      ps.push_back(pc.add_parameters({2}, ParameterInitConst(k == bad ? 0.0f : 1.0f)));
      xs.push_back(parameter(g, ps.back()) + 0.0f);
    }
    for (const Expression& x : xs) losses.push_back(sum_elems(sqrt(x)));
    CAPTURE(bad);
    CHECK_THROWS_AS(g.backward(sum(losses)), NumericError);
    CHECK_THROWS_WITH(g.backward(sum(losses)), Catch::Contains("infinity at element 0"));
  }
}

}  // namespace plans_test
