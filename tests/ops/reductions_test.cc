#include "dynet-like/ops/reductions.h"

#include <cmath>

#include "dynet-like/ops/inputs.h"
#include "dynet-like/param/parameters.h"
#include "tests/ops/cases.h"
#include "tests/support/catch.h"

namespace dynet::test {
namespace {

constexpr unsigned kBatch = kMaxTensorDim;

OpCase of_elements(const std::string& name, Expression (*op)(const Expression&, SourceLocation),
                   std::function<double(double)> each,
                   std::function<double(double, double)> finish) {
  OpCase c;
  c.name = name;
  c.shapes = [](Shapes& s) { return std::vector{s.any(4)}; };
  c.build = [op](const Operand& x) { return op(x[0], SourceLocation::current()); };
  c.reference = [=](const Arrays& x) {
    const std::size_t n = x[0].dim.batch_size();
    return fill(Dim({1}, x[0].dim.bd), [&](const Place& p) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += each(x[0].v[p[kBatch] * n + k]);
      return finish(sum, static_cast<double>(n));
    });
  };
  return c;
}

OpCase of_batches(const std::string& name, Expression (*op)(const Expression&, SourceLocation),
                  bool mean) {
  OpCase c;
  c.name = name;
  c.shapes = [](Shapes& s) { return std::vector{s.any(3)}; };
  c.build = [op](const Operand& x) { return op(x[0], SourceLocation::current()); };
  c.reference = [mean](const Arrays& x) {
    return fill(x[0].dim.single_batch(), [&](Place p) {
      double sum = 0;
      for (unsigned b = 0; b < x[0].dim.bd; ++b) {
        p[kBatch] = b;
        sum += x[0].at(p);
      }
      return mean ? sum / x[0].dim.bd : sum;
    });
  };
  return c;
}

}  // namespace

std::vector<OpCase> reduction_cases() {
  const auto self = [](double x) { return x; };
  const auto square = [](double x) { return x * x; };
  const auto sum = [](double s, double) { return s; };
  std::vector<OpCase> all;
  all.push_back(of_elements("sum_elems", sum_elems, self, sum));
  all.push_back(
      of_elements("mean_elems", mean_elems, self, [](double s, double n) { return s / n; }));
  all.back().empty = false;
  all.back().bad = {{{Dim({0})}}, {{Dim({3, 0}, 2)}}};
  all.push_back(of_elements("squared_norm", squared_norm, square, sum));
  all.push_back(
      of_elements("l2_norm", l2_norm, square, [](double s, double) { return std::sqrt(s); }));
  all.back().extremes = {0, 1e25, -1e25, 1e-25};
  all.push_back(of_batches("sum_batches", sum_batches, false));
  all.push_back(of_batches("mean_batches", mean_batches, true));
  return all;
}

DYNET_OP_TESTS("reductions", reduction_cases())

TEST_CASE("l2_norm: the gradient at zero is zero") {
  ComputationGraph g;
  ParameterCollection model;
  Parameter p = model.add_parameters({3}, ParameterInitConst(0));
  g.backward(l2_norm(parameter(g, p)));
  CHECK(as_vector(p.gradients()) == std::vector<float>{0, 0, 0});
}

TEST_CASE("reductions: the error of a long sum does not grow with its length") {
  ComputationGraph g;
  const Expression x = constant(g, {1000, 1000}, 0.1f);
  CHECK(as_scalar(sum_elems(x).value()) == Approx(1e6 * static_cast<double>(0.1f)).epsilon(1e-6));
  CHECK(as_scalar(mean_elems(x).value()) == Approx(0.1f).epsilon(1e-6));
  const Expression losses = constant(g, Dim({1}, 1000000), 0.1f);
  CHECK(as_scalar(sum_batches(losses).value()) ==
        Approx(1e6 * static_cast<double>(0.1f)).epsilon(1e-6));
}

}  // namespace dynet::test
