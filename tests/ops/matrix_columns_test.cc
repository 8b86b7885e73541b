// Products with matrices of different numbers of columns are one batch.
#include "tests/ops/sequences.h"

namespace matrix_columns_test {

using namespace dynet;
using namespace dynet::test;

namespace {

Parameter some(ParameterCollection& model, const Dim& d, std::uint64_t key) {
  std::uint64_t draws = 0;
  return model.add_parameters(
      d, ParameterInitFromVector(some_scores(d.size(), RandomStream(key), draws)));
}

}  // namespace

TEST_CASE("products: matrices of any number of columns are one batch, and the same bits alone") {
  constexpr unsigned kCount = 20, kOut = 37, kIn = 21;
  for (const unsigned batch : {1u, 3u}) {
    CAPTURE(batch);
    ParameterCollection model;
    const Parameter b = some(model, {kOut}, 1), w = some(model, {kOut, kIn}, 2),
                    v = some(model, {kOut, 2}, 3), u = some(model, {4, kOut}, 4);
    Sentences all{.shared = {b, w, v, u}, .batches = 2 + kCount + 4, .same_gradients = false};
    for (unsigned n = 0; n < kCount; ++n) {
      const unsigned columns = 2 + n * 17 % 41;
      all.own.push_back({some(model, Dim({kIn, columns}), 10 + 2 * n),
                         some(model, Dim({2, columns}), 11 + 2 * n)});
    }
    all.build = [&](ComputationGraph& g, unsigned n) {
      const Expression x = parameter(g, all.own[n][0]), z = parameter(g, all.own[n][1]);
      std::vector<Expression> copies(batch, x);
      const Expression xs = batch == 1 ? x : concatenate_to_batch(copies);
      const Expression y =
          affine_transform({parameter(g, b), parameter(g, w), xs, parameter(g, v), z});
      return std::vector{y, parameter(g, u) * y};
    };
    all.loss = [](const std::vector<Expression>& y) { return sum_batches(squared_norm(y[1])); };
    if (batch > 1) all.batches += kCount + 4;  // the copies, and their sums
    check_alone_and_together(model, all);
  }
}

TEST_CASE("products: gradients of matrices with different numbers of columns") {
  ParameterCollection model;
  const Parameter b = some(model, {3}, 1), wide = some(model, {3, 2}, 2),
                  w = some(model, {3, 2}, 3);
  const Parameter x2 = some(model, {2, 2}, 4), x5 = some(model, {2, 5}, 5),
                  x300 = some(model, {2, 300}, 6);
  ComputationGraph g;
  const Expression bias = parameter(g, b), W = parameter(g, w), V = parameter(g, wide);
  std::vector<Expression> losses;
  for (const Parameter& p : {x2, x5, x300, x5}) {
    const Expression x = parameter(g, p);
    losses.push_back(0.1f * squared_norm(tanh(affine_transform({bias, W, x, V, x}))));  // x twice
    losses.push_back(0.2f * sum_elems(W * x));
    squared_norm(W * x).value();  // the loss does not depend on it
  }
  // A bias for each column.
  losses.push_back(squared_norm(affine_transform({W * parameter(g, x2), V, parameter(g, x2)})));
  const GradientReport report = check_gradients(sum(losses));
  INFO(report);
  CHECK(report.ok());
}

}  // namespace matrix_columns_test
