#include "dynet-like/ops/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dynet-like/base/errors.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/selection.h"
#include "dynet-like/param/parameters.h"
#include "tests/ops/cases.h"
#include "tests/support/catch.h"

namespace dynet::test {
namespace {

constexpr unsigned kBatch = kMaxTensorDim;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// log(softmax(x)) at a place along dimension d.
double log_softmax_at(const Array& x, Place p, unsigned d) {
  const double here = x.at(p);
  double most = -kInfinity, sum = 0;
  for (p[d] = 0; p[d] < x.dim[d]; ++p[d]) most = std::max(most, x.at(p));
  if (most == -kInfinity || here == -kInfinity) return -kInfinity;
  for (p[d] = 0; p[d] < x.dim[d]; ++p[d]) sum += std::exp(x.at(p) - most);
  return here - most - std::log(sum);
}

std::vector<Dim> vector_or_matrix(Shapes& s) { return {s.coin() ? s.vector() : s.matrix()}; }

std::vector<unsigned> classes_of(const Dim& d, unsigned variant) {
  std::vector<unsigned> v;
  for (unsigned b = 0; b < d.bd; ++b) v.push_back(d.rows() ? (variant + 3 * b) % d.rows() : 0);
  return v;
}

OpCase class_loss(const std::string& form,
                  std::function<Expression(const Expression&, std::vector<unsigned>)> build) {
  OpCase c;
  c.name = "pickneglogsoftmax, " + form;
  c.shapes = [](Shapes& s) { return std::vector{Dim({s.positive() * s.positive()}, s.batch())}; };
  c.build = [build](const Operand& x) { return build(x[0], classes_of(x[0].dim(), x.variant)); };
  c.reference = [](const Arrays& x) {
    const std::vector<unsigned> v = classes_of(x[0].dim, x.variant);
    return fill(Dim({1}, x[0].dim.bd), [&](Place p) {
      p[0] = v[p[kBatch]];
      return -log_softmax_at(x[0], p, 0);
    });
  };
  c.low = -3, c.high = 3;
  c.empty = false;
  c.extremes = {-kInfinity, 1e4, -1e4, 80, -200};
  return c;
}

}  // namespace

std::vector<OpCase> softmax_cases() {
  std::vector<OpCase> all;
  for (unsigned d : {0u, 1u}) {
    OpCase c;
    c.name = "softmax along " + std::to_string(d);
    c.shapes = vector_or_matrix;
    c.build = [d](const Operand& x) { return softmax(x[0], d); };
    c.reference = [d](const Arrays& x) {
      return fill(x[0].dim, [&](const Place& p) { return std::exp(log_softmax_at(x[0], p, d)); });
    };
    c.low = -3, c.high = 3;
    c.extremes = {-kInfinity, 1e4, -1e4, 80, -200};
    c.bad = {{{Dim({2, 3, 2})}}};
    all.push_back(c);
  }
  OpCase c;
  c.name = "log_softmax";
  c.shapes = vector_or_matrix;
  c.build = [](const Operand& x) { return log_softmax(x[0]); };
  c.reference = [](const Arrays& x) {
    return fill(x[0].dim, [&](const Place& p) { return log_softmax_at(x[0], p, 0); });
  };
  c.low = -3, c.high = 3;
  c.extremes = {-kInfinity, 1e4, -1e4, 80, -200};
  c.bad = {{{Dim({2, 3, 2})}}};
  all.push_back(c);

  all.push_back(class_loss("vector", [](const Expression& x, std::vector<unsigned> v) {
    return pickneglogsoftmax(x, v);
  }));
  all.back().bad = {{{Dim({3, 2})}}, {{Dim({0})}, Throws::index_error}};
  // One class as a number; a batch takes a vector.
  all.push_back(class_loss("integer", [](const Expression& x, std::vector<unsigned> v) {
    return v.size() == 1 ? pickneglogsoftmax(x, v[0]) : pickneglogsoftmax(x, v);
  }));
  return all;
}

DYNET_OP_TESTS("softmax", softmax_cases())

TEST_CASE("softmax: long columns go through in pieces") {
  for (const OpCase& one : softmax_cases()) {
    OpCase c = one;
    c.shapes = [](Shapes& s) { return std::vector{Dim({2500}, s.full_batch())}; };
    if (c.name == "softmax along 1")
      c.shapes = [](Shapes& s) { return std::vector{Dim({2, 1300}, s.full_batch())}; };
    c.value_tolerance = 1e-9;
    c.float_tolerance = 3e-5;
    c.draws = 1;
    check_values(c);
    check_extremes(c);
  }
}

TEST_CASE("softmax: long columns have the right gradients") {
  OpCase c = softmax_cases()[3];
  c.shapes = [](Shapes&) { return std::vector{Dim({1100})}; };
  ComputationGraph g;
  ParameterCollection model;
  Parameter p = model.add_parameters({1100}, 1.0f);
  g.backward(pickneglogsoftmax(parameter(g, p), 1050));
  const std::vector<float> d = as_vector(p.gradients());
  const std::vector<float> y = as_vector(softmax(parameter(g, p)).value());
  for (unsigned k = 0; k < 1100; ++k) CHECK(std::abs(d[k] - y[k] + (k == 1050)) < 1e-6f);
}

TEST_CASE("softmax: where all scores are masked") {
  const float masked = -std::numeric_limits<float>::infinity();
  ComputationGraph g;
  ParameterCollection model;
  Parameter p = model.add_parameters({3});
  p.set_value({masked, masked, masked});
  const Expression x = parameter(g, p);
  CHECK(as_vector(softmax(x).value()) == std::vector<float>{0, 0, 0});
  CHECK(as_vector(log_softmax(x).value()) == std::vector<float>{masked, masked, masked});
  const Expression loss = pickneglogsoftmax(x, 1);
  CHECK(as_scalar(loss.value()) == -masked);
  g.backward(loss);
  CHECK(as_vector(p.gradients()) == std::vector<float>{0, 0, 0});
}

TEST_CASE("softmax: a masked score is exactly zero") {
  const float masked = -std::numeric_limits<float>::infinity();
  ComputationGraph g;
  ParameterCollection model;
  Parameter p = model.add_parameters({20}, 1.0f);
  std::vector<float> values = as_vector(p.values());
  for (std::size_t k = 0; k < 20; k += 3) values[k] = masked;
  p.set_value(values);
  const Expression x = parameter(g, p);
  const std::vector<float> y = as_vector(softmax(x).value());
  g.backward(pickneglogsoftmax(x, 1));
  const std::vector<float> d = as_vector(p.gradients());
  for (std::size_t k = 0; k < 20; k += 3) {
    CHECK(y[k] == 0.0f);
    CHECK(d[k] == 0.0f);
  }
}

TEST_CASE("pickneglogsoftmax: classes behind pointers are read at every forward") {
  ComputationGraph g;
  ParameterCollection model;
  Parameter p = model.add_parameters({3});
  p.set_value({1, 2, 3});
  const Expression x = parameter(g, p);
  unsigned one = 0;
  std::vector<unsigned> two = {0, 1};
  const Expression a = pickneglogsoftmax(x, &one);
  const Expression b = pickneglogsoftmax(concatenate_to_batch({x, x}), &two);
  const auto loss = [](unsigned v) {
    return std::log(std::exp(1.0) + std::exp(2.0) + std::exp(3.0)) - (1.0 + v);
  };
  CHECK(as_scalar(g.forward(a)) == Approx(loss(0)));
  one = 2;
  two = {2, 1};
  CHECK(as_scalar(g.forward(a)) == Approx(loss(2)));
  CHECK(as_vector(g.forward(b))[0] == Approx(loss(2)));
  CHECK(as_vector(g.forward(b))[1] == Approx(loss(1)));
  // Backward belongs to the forward before it, whatever was written meanwhile.
  g.forward(a);
  one = 0;
  g.backward(a);
  const std::vector<float> d = as_vector(p.gradients());
  CHECK(d[2] < 0);
  CHECK(d[0] > 0);

  one = 3;
  CHECK_THROWS_AS(g.forward(a), IndexError);
  two = {0};
  CHECK_THROWS_AS(g.forward(b), IndexError);
  one = 1;
  two = {0, 0};
  CHECK(as_scalar(g.forward(a)) == Approx(loss(1)));
  CHECK(as_vector(g.forward(b))[1] == Approx(loss(0)));
}

}  // namespace dynet::test
