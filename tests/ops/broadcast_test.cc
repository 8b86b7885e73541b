#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

std::vector<Dim> two(Shapes& s) {
  const Dim d = s.any(4);
  switch (s.below(4)) {
    case 0:
      return {d, d};
    case 1:
      return {s.reduced(d), d};
    case 2:
      return {d, s.reduced(d)};
    default:
      return {s.reduced(d), s.reduced(d)};
  }
}

std::vector<Dim> several(Shapes& s) {
  const Dim d = s.any(3);
  std::vector<Dim> all;
  const std::uint64_t n = 1 + s.below(4);
  for (std::uint64_t k = 0; k < n; ++k) all.push_back(s.coin() ? d : s.reduced(d));
  return all;
}

OpCase binary(const std::string& name,
              std::function<Expression(const Expression&, const Expression&)> op,
              std::function<double(double, double)> f) {
  OpCase c;
  c.name = name;
  c.shapes = two;
  c.build = [op](const Operand& x) { return op(x[0], x[1]); };
  c.reference = [f](const Arrays& x) {
    return zip(x, [&](const std::vector<double>& v) { return f(v[0], v[1]); });
  };
  c.bad = bad_shapes("{2} {3} | {2,3} {3,2} | {2X2} {2X3} | {4,1,2} {4,1,3} | {0} {2}");
  return c;
}

double log_sum_exp(const std::vector<double>& v) {
  const double most = *std::max_element(v.begin(), v.end());
  if (most == -kInfinity) return most;
  double sum = 0;
  for (double x : v) sum += std::exp(x - most);
  return most + std::log(sum);
}

#define OF_DOUBLES(...) [](double x, double y) { return __VA_ARGS__; }

}  // namespace

std::vector<OpCase> broadcast_cases() {
  std::vector<OpCase> all;
  all.push_back(binary("x + y", OF_XY(x + y), OF_DOUBLES(x + y)));
  all.push_back(binary("x - y", OF_XY(x - y), OF_DOUBLES(x - y)));
  all.push_back(binary("cmult", OF_XY(cmult(x, y)), OF_DOUBLES(x * y)));
  all.push_back(binary("x / y", OF_XY(x / y), OF_DOUBLES(x / y)));
  all.back().low = 0.4, all.back().high = 2;
  all.push_back(binary("cdiv", OF_XY(cdiv(x, y)), OF_DOUBLES(x / y)));
  all.back().low = 0.4, all.back().high = 2;
  all.push_back(binary("pow", OF_XY(pow(x, y)), OF_DOUBLES(std::pow(x, y))));
  all.back().low = 0.4, all.back().high = 2;
  all.back().extremes = {0, 1, 2};
  all.push_back(binary("max", OF_XY(max(x, y)), OF_DOUBLES(std::max(x, y))));
  all.back().distinct = true;
  all.back().extremes = {-kInfinity, 1e30, -1e30};
  all.push_back(binary("min", OF_XY(min(x, y)), OF_DOUBLES(std::min(x, y))));
  all.back().distinct = true;
  all.back().extremes = {-kInfinity, 1e30, -1e30};

  OpCase c;
  c.name = "sum";
  c.shapes = several;
  c.build = [](const Operand& x) { return sum(x); };
  c.reference = [](const Arrays& x) { return zip(x, sum_of); };
  c.bad = bad_shapes("argument: | {2} {2} {3} | {2X2} {2} {2X3}");
  all.push_back(c);
  c.name = "average";
  c.build = [](const Operand& x) { return average(x); };
  c.reference = [](const Arrays& x) {
    return zip(
        x, [](const std::vector<double>& v) { return sum_of(v) / static_cast<double>(v.size()); });
  };
  all.push_back(c);

  c.distinct = true;
  c.same_operand = false;
  c.extremes = {-kInfinity, 1e30, -1e30};
  for (const bool largest : {true, false}) {
    c.name = largest ? "max of many" : "min of many";
    c.build = [largest](const Operand& x) { return largest ? max(x) : min(x); };
    c.reference = [largest](const Arrays& x) {
      return zip(x, [largest](const std::vector<double>& v) {
        return largest ? *std::max_element(v.begin(), v.end())
                       : *std::min_element(v.begin(), v.end());
      });
    };
    all.push_back(c);
  }
  c.name = "logsumexp";
  c.build = [](const Operand& x) { return logsumexp(x); };
  c.reference = [](const Arrays& x) { return zip(x, log_sum_exp); };
  c.distinct = false;
  c.same_operand = true;
  c.extremes = {-kInfinity, 1e4, -1e4, 80, -200};
  all.push_back(c);
  return all;
}

DYNET_OP_TESTS("broadcast", broadcast_cases())

TEST_CASE("one element that meets a long row gets the gradient of all of it") {
  const Dim one({1}), row({5000});  // added up in pieces
  for (const OpCase& c : broadcast_cases())
    if (c.name == "cmult" || c.name == "cdiv" || c.name == "x - y") {
      check_large(c, {one, row});
      check_large(c, {row, one});
    }
}

TEST_CASE("max, min: the first of several equal elements gets the gradient") {
  for (const bool largest : {true, false}) {
    ComputationGraph g;
    ParameterCollection model;
    Parameter p = model.add_parameters({3}), q = model.add_parameters({3});
    p.set_value({1, 2, 2}), q.set_value({1, 2, 2});
    const Expression a = parameter(g, p), b = parameter(g, q);
    g.backward(sum_elems(largest ? max({a, b, b}) : min({a, b, b})));
    CHECK(as_vector(p.gradients()) == std::vector<float>{1, 1, 1});
    CHECK(as_vector(q.gradients()) == std::vector<float>{0, 0, 0});
  }
}

TEST_CASE("pow: negative numbers have whole powers") {
  auto [model, p, g, x] = Variable({4}, {-2, -1, 0, 3});
  const Expression y = pow(x, input(g, 3));
  CHECK(as_vector(y.value()) == std::vector<float>{-8, -1, 0, 27});
  g.backward(sum_elems(y));
  CHECK(as_vector(p.gradients()) == std::vector<float>{12, 3, 0, 27});
  CHECK(as_vector(pow(x, input(g, 0)).value()) == std::vector<float>{1, 1, 1, 1});
  CHECK(std::isnan(as_vector(pow(x, input(g, 0.5f)).value())[0]));
}

TEST_CASE("logsumexp: the gradient is zero where all operands are masked") {
  const float masked = -std::numeric_limits<float>::infinity();
  auto [model, p, g, x] = Variable({2}, {masked, 1});
  const Expression mask = constant(g, {2}, masked);
  const Expression y = logsumexp({x, mask, mask});
  CHECK(as_vector(y.value()) == std::vector<float>{masked, 1});
  g.backward(sum_elems(cmult(y, input(g, {2}, {2, 3}))));
  CHECK(as_vector(p.gradients()) == std::vector<float>{0, 3});
}

}  // namespace dynet::test
