// Graphs that run plan by plan, with reverts and repeated runs.

#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "tests/support/catch.h"

namespace plans_test {

using namespace dynet;

namespace {

using Floats = std::vector<float>;

Floats value(const Expression& e) { return as_vector(e.value()); }

Floats some(unsigned n, float first) {
  Floats v(n);
  for (unsigned i = 0; i < n; ++i) v[i] = first + 0.37f * static_cast<float>(i % 5) - 0.8f;
  return v;
}

}  // namespace

TEST_CASE("a graph separates values freed by a later plan from those kept by an earlier one") {
  ParameterCollection pc;
  auto w = pc.add_parameters({4, 4});
  ComputationGraph g, kept(false);
  std::vector<Expression> products[2], hidden[2];
  Expression sums[2];
  for (ComputationGraph* graph : {&g, &kept}) {
    const unsigned k = graph == &kept;
    const Expression W = parameter(*graph, w), x = input(*graph, {4}, some(4, 0.5f)), y = x + 1.0f;
    value(y);  // a plan that frees no value
    for (unsigned i = 0; i < 10; ++i) {
      products[k].push_back(W * (x * static_cast<float>(i)));
      hidden[k].push_back(tanh(products[k].back()));  // in place of the product
    }
    sums[k] = sum(hidden[k]);
    value(sums[k]);
    // A plan whose operands were freed.
    hidden[k].push_back(logistic(products[k][3]) + y);
  }
  for (unsigned i = 0; i < 11; ++i) CHECK(value(hidden[0][i]) == value(hidden[1][i]));
  for (unsigned i = 10; i-- > 0;) CHECK(value(products[0][i]) == value(products[1][i]));
  CHECK(value(sums[0]) == value(sums[1]));
}

TEST_CASE("backward after a revert reads the scratch of the remaining nodes") {
  const auto run = [](bool revert) {
    ParameterCollection pc;
    auto p = pc.add_parameters({6});
    auto table = pc.add_lookup_parameters(9, {6});
    ComputationGraph g;
    const Expression x = parameter(g, p);
    const auto add = [&](unsigned from, unsigned to) {
      std::vector<Expression> all;
      for (unsigned k = from; k < to; ++k) {
        const Expression row = lookup(g, table, std::vector<unsigned>{k, k / 2}),
                         m = max(x * static_cast<float>(k), row);
        all.push_back(sum_batches(sum_elems(cmult(m, x))));
        all.push_back(sum_batches(max_dim(row, 0)));
        const Expression both = concatenate({x, x * static_cast<float>(k), x, x});
        all.push_back(sum_elems(vanilla_lstm_h(x, logistic(both))));
        all.push_back(sum_batches(pick(row, k % 6)));
      }
      return all;
    };
    const auto stay = add(0, 5);
    if (revert) {
      g.checkpoint();
      sum(add(5, 9)).value();  // in one plan with the nodes above
      g.revert();
    }
    g.backward(sum(stay));
    std::vector<Floats> all{as_vector(p.gradients())};
    for (unsigned i = 0; i < 9; ++i) all.push_back(table.row_gradient(i));
    return all;
  };
  CHECK(run(true) == run(false));
}

TEST_CASE("a revert inside a plan keeps earlier plans, and the graph continues") {
  ParameterCollection pc;
  auto w = pc.add_parameters({4, 4}), v = pc.add_parameters({4});
  const auto run = [&](bool reverts) {
    pc.reset_gradient();
    ComputationGraph g;
    const Expression W = parameter(g, w);
    Expression h = tanh(parameter(g, v));
    value(h);
    std::vector<Expression> outs;
    for (unsigned round = 0; round < 3; ++round) {
      for (unsigned k = 0; k < 4; ++k) {
        h = tanh(W * h + 0.1f);
        outs.push_back(h * 0.5f);
      }
      if (!reverts) continue;
      g.checkpoint();
      for (unsigned k = 0; k < 5; ++k) value(tanh(W * (h * static_cast<float>(k))) * 0.5f);
      sum(outs).value();
      g.revert();
    }
    const Expression loss = sum_elems(sum(outs));
    Floats all = value(loss);
    g.backward(loss);
    for (const Parameter& p : {w, v})
      for (const float x : as_vector(p.gradients())) all.push_back(x);
    return all;
  };
  CHECK(run(true) == run(false));
}

TEST_CASE("a plan that fails keeps the values of earlier plans and none of its own") {
  ParameterCollection pc;
  auto table = pc.add_lookup_parameters(3, {2}, ParameterInitConst(1.0f));
  auto p = pc.add_parameters({2}, ParameterInitConst(3.0f));
  std::vector<unsigned> rows{0, 2};
  unsigned row = 1;
  ComputationGraph g;
  const Expression x = parameter(g, p), y = square(x);
  value(y);
  const Expression several = lookup(g, table, &rows), one = lookup(g, table, &row),
                   loss = sum_batches(sum_elems(several * 2.0f)) + sum_elems(one) + sum_elems(y);
  for (const unsigned bad : {3u, 4u, ~0u}) {
    rows[1] = bad;
    CHECK_THROWS_AS(loss.value(), IndexError);
    CHECK_THROWS_AS(g.backward(loss), IndexError);
    CHECK(value(y) == Floats{9, 9});
    rows[1] = 2;
    row = bad;
    CHECK_THROWS_AS(loss.value(), IndexError);
    row = 1;
  }
  g.backward(loss);
  CHECK(value(loss) == Floats{8 + 2 + 18});
  CHECK(as_vector(p.gradients()) == Floats{6, 6});
  CHECK(table.row_gradient(0) == Floats{2, 2});
  CHECK(table.row_gradient(1) == Floats{1, 1});
  CHECK(table.row_gradient(2) == Floats{2, 2});
}

TEST_CASE("backward adds gradients of gathered rows to the rows of the current graph") {
  ParameterCollection pc;
  auto table = pc.add_lookup_parameters(4, {4});
  const std::vector<unsigned> rows{1, 2}, others{0, 3};
  ComputationGraph g;
  lookup(g, table, rows).value();
  g.clear();
  const Expression x = input(g, Dim({4}, 2), Floats(8, 7.0f));  // reuses the memory of the rows
  value(x);
  const Expression y = lookup(g, table, others), z = lookup(g, table, rows);
  g.backward(sum_batches(sum_elems(y + z * 10.0f)));
  CHECK(value(x) == Floats(8, 7.0f));
  for (unsigned i = 0; i < 4; ++i)
    CHECK(table.row_gradient(i) == Floats(4, i % 3 == 0 ? 1.0f : 10.0f));
}

TEST_CASE("statistics count batches that ran, and none for views and parameters") {
  ParameterCollection pc;
  auto p = pc.add_parameters({4});
  ComputationGraph g;
  const Expression x = parameter(g, p), r = reshape(x, {2, 2}), y = tanh(r);
  CHECK(g.statistics().batches == 0);
  value(y);
  CHECK(g.statistics().batches == 1);
  square(y);  // never runs
  CHECK(g.statistics().nodes == 4);
}

TEST_CASE("recomputed values count in value_bytes") {
  ParameterCollection pc;
  auto w = pc.add_parameters({16, 16});
  ComputationGraph g;
  std::vector<Expression> products, hidden;
  const Expression W = parameter(g, w);
  for (unsigned k = 0; k < 10; ++k) {
    products.push_back(W * input(g, {16}, some(16, static_cast<float>(k))));
    hidden.push_back(tanh(products.back()));
  }
  sum(hidden).value();
  const std::size_t before = g.statistics().value_bytes;
  value(products[4]);
  CHECK(g.statistics().value_bytes >= before + 16 * sizeof(float));
}

TEST_CASE("the validity check checks the value of every node of a batch") {
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
