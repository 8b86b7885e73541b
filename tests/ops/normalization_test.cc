#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

/// f of all elements of a batch element of x, in order.
template <class F>
double over_elements(const Array& x, unsigned e, F f) {
  const std::size_t n = x.dim.batch_size(), first = x.dim.bd == 1 ? 0 : e * n;
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += f(x.v[first + k]);
  return sum;
}

OpCase layer(float epsilon) {
  OpCase c;
  c.name = "layer_norm with epsilon " + std::to_string(epsilon);
  c.shapes = [](Shapes& s) {
    std::vector<Dim> dims(3, s.any(4));
    for (Dim& d : dims) d.bd = s.batch();
    return dims;
  };
  c.build = [epsilon](const Operand& x) { return layer_norm(x[0], x[1], x[2], epsilon); };
  c.reference = [epsilon](const Arrays& x) {
    Dim y = x[0].dim;
    for (const Array& a : x) y.bd = std::max(y.bd, a.dim.bd);
    return fill(y, [&](const Place& p) {
      const auto n = static_cast<double>(y.batch_size());
      const double mean = over_elements(x[0], p[kBatch], [](double v) { return v; }) / n;
      const double variance =
          over_elements(x[0], p[kBatch], [&](double v) { return (v - mean) * (v - mean); }) / n;
      const double s = std::sqrt(variance + static_cast<double>(epsilon));
      return (s > 0 ? (x[0].at(p) - mean) / s * x[1].at(p) : 0) + x[2].at(p);
    });
  };
  c.distinct = true;
  c.bad = bad_shapes(
      "{2,3} {2} {2,3} | {2,3} {2,3} {3,2} | {2X2} {2X3} {2} | {2X2} {2} {2X3} | {2} {2X2} {2X3}");
  return c;
}

}  // namespace

std::vector<OpCase> normalization_cases() {
  std::vector<OpCase> all = {layer(0.0f), layer(0.25f)};
  OpCase c;
  c.name = "weight_norm";
  c.shapes = [](Shapes& s) { return std::vector{s.any(4), Dim({1}, s.batch())}; };
  c.build = [](const Operand& x) { return weight_norm(x[0], x[1]); };
  c.reference = [](const Arrays& x) {
    Dim y = x[0].dim;
    y.bd = std::max(x[0].dim.bd, x[1].dim.bd);
    return fill(y, [&](const Place& p) {
      const double squares = over_elements(x[0], p[kBatch], [](double v) { return v * v; });
      return x[1].at(0, 0, p[kBatch]) * x[0].at(p) / std::sqrt(squares);
    });
  };
  c.kinks = {0};
  c.low = 0.2;
  c.empty = false;  // weights without elements have no direction
  c.bad = bad_shapes("{2,3} {2} | {2,3X2} {1X3}");
  all.push_back(c);
  return all;
}

DYNET_OP_TESTS("normalization", normalization_cases())

TEST_CASE("layer_norm: equal elements give the bias and no gradient") {
  using V = std::vector<float>;
  ComputationGraph g;
  ParameterCollection model;
  Parameter p = model.add_parameters({3}), gain = model.add_parameters({3});
  p.set_value({7, 7, 7});
  gain.set_value({1, 2, 3});
  const Expression y = layer_norm(parameter(g, p), parameter(g, gain), input(g, {3}, {0.5f, 1, 2}));
  CHECK(as_vector(y.value()) == V{0.5f, 1, 2});
  g.backward(squared_norm(y));
  CHECK(as_vector(p.gradients()) == V{0, 0, 0});
  CHECK(as_vector(gain.gradients()) == V{0, 0, 0});
}

TEST_CASE("layer_norm: large values lose no accuracy") {
  ComputationGraph g;
  const Expression x = input(g, {4}, {1e6f + 1, 1e6f - 1, 1e6f + 1, 1e6f - 1});
  const Expression one = ones(g, {4}), zero = zeros(g, {4});
  const auto y = as_vector(layer_norm(x, one, zero).value());
  CHECK(y == std::vector<float>{1, -1, 1, -1});
}

}  // namespace dynet::test
