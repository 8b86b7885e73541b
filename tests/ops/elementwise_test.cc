#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

OpCase unary(const std::string& name, std::function<Expression(const Expression&)> op,
             std::function<double(double)> f) {
  OpCase c;
  c.name = name;
  c.shapes = [](Shapes& s) { return std::vector{s.any(4)}; };
  c.build = [op](const Operand& x) { return op(x[0]); };
  c.reference = [f](const Arrays& x) { return map(x[0], f); };
  return c;
}

// With a number that differs from node to node.
OpCase with_number(const std::string& name, std::function<Expression(const Expression&, float)> op,
                   std::function<double(double, double)> f, double number) {
  OpCase c = unary(name, nullptr, nullptr);
  c.build = [=](const Operand& x) { return op(x[0], static_cast<float>(number + x.variant)); };
  c.reference = [=](const Arrays& x) {
    return map(x[0], [&](double e) { return f(e, number + x.variant); });
  };
  return c;
}

std::vector<OpCase> more_elementwise_cases() {
  using E = const Expression&;
  std::vector<OpCase> all;
  const auto add = [&](const std::string& name, std::function<Expression(E)> op,
                       std::function<double(double)> f, double low, double high,
                       std::vector<double> extremes, std::vector<double> kinks = {}) {
    all.push_back(unary(name, op, f));
    all.back().low = low, all.back().high = high;
    all.back().extremes = extremes;
    all.back().kinks = kinks;
  };
  using F = double (*)(double);
  add(
      "selu", [](E x) { return selu(x); },
      [](double x) {
        return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
      },
      -3, 3, {1e30, -1e30, -kInfinity, 0}, {0});
  for (const float beta : {1.0f, 0.7f})
    add(
        "silu, beta " + std::to_string(beta),
        [beta](E x) { return beta == 1 ? silu(x) : silu(x, beta); },
        [beta](double x) {
          return x == -kInfinity ? 0 : x * sigmoid(static_cast<double>(beta) * x);
        },
        -6, 6, {1e30, -1e30, -kInfinity, 100, -100, 0});
  add("erf", [](E x) { return erf(x); }, F(std::erf), -3, 3, {kInfinity, -kInfinity, 10, -10, 0});
  add("lgamma", [](E x) { return lgamma(x); }, F(std::lgamma), 0.2, 5, {1e5, 1e-3, 1, 2});
  add("sin", [](E x) { return sin(x); }, F(std::sin), -4, 4, {0, 1e4, -1e4});
  add("cos", [](E x) { return cos(x); }, F(std::cos), -4, 4, {0, 1e4, -1e4});
  add("tan", [](E x) { return tan(x); }, F(std::tan), -1.2, 1.2, {0});
  add("asin", [](E x) { return asin(x); }, F(std::asin), -0.9, 0.9, {1, -1, 0});
  add("acos", [](E x) { return acos(x); }, F(std::acos), -0.9, 0.9, {1, -1, 0});
  add("atan", [](E x) { return atan(x); }, F(std::atan), -4, 4, {kInfinity, -kInfinity, 1e30, 0});
  add("sinh", [](E x) { return sinh(x); }, F(std::sinh), -3, 3, {20, -20, 0});
  add("cosh", [](E x) { return cosh(x); }, F(std::cosh), -3, 3, {20, -20, 0});
  add("asinh", [](E x) { return asinh(x); }, F(std::asinh), -4, 4, {1e10, -1e10, 1e30, 0});
  add("acosh", [](E x) { return acosh(x); }, F(std::acosh), 1.2, 5, {1, 1e10, 1e30});
  add("atanh", [](E x) { return atanh(x); }, F(std::atanh), -0.9, 0.9, {1, -1, 0});
  const std::vector<double> whole = {-3, -2, -1, 0, 1, 2, 3};
  const std::vector<double> halves = {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5};
  std::vector<double> steps = {1e30, -1e30, kInfinity, -kInfinity};
  steps.insert(steps.end(), whole.begin(), whole.end());
  steps.insert(steps.end(), halves.begin(), halves.end());
  add(
      "round", [](E x) { return round(x, zero_gradient); }, F(std::round), -3, 3, steps, halves);
  add(
      "ceil", [](E x) { return ceil(x, zero_gradient); }, F(std::ceil), -3, 3, steps, whole);
  add(
      "floor", [](E x) { return floor(x, zero_gradient); }, F(std::floor), -3, 3, steps, whole);
  return all;
}

}  // namespace

std::vector<OpCase> elementwise_cases() {
  using E = const Expression&;
  std::vector<OpCase> all;
  all.push_back(unary(
      "-x", [](E x) { return -x; }, [](double x) { return -x; }));
  all.push_back(with_number(
      "x + 1.5", [](E x, float a) { return x + a; }, [](double x, double a) { return x + a; },
      1.5));
  all.push_back(with_number(
      "1.5 + x", [](E x, float a) { return a + x; }, [](double x, double a) { return x + a; },
      1.5));
  all.push_back(with_number(
      "x - 1.5", [](E x, float a) { return x - a; }, [](double x, double a) { return x - a; },
      1.5));
  all.push_back(with_number(
      "1.5 - x", [](E x, float a) { return a - x; }, [](double x, double a) { return a - x; },
      1.5));
  all.push_back(with_number(
      "x * 2.5", [](E x, float a) { return x * a; }, [](double x, double a) { return x * a; },
      2.5));
  all.push_back(with_number(
      "2.5 * x", [](E x, float a) { return a * x; }, [](double x, double a) { return x * a; },
      2.5));
  all.push_back(with_number(
      "x / 3", [](E x, float a) { return x / a; }, [](double x, double a) { return x / a; }, 3));

  all.push_back(unary(
      "tanh", [](E x) { return tanh(x); }, [](double x) { return std::tanh(x); }));
  all.back().low = -4, all.back().high = 4;
  all.back().extremes = {-kInfinity, kInfinity, 1e4, -1e4, 1e30, 0};
  all.push_back(unary(
      "logistic", [](E x) { return logistic(x); }, sigmoid));
  all.back().low = -6, all.back().high = 6;
  all.back().extremes = {-kInfinity, kInfinity, 1e4, -1e4, 1e30, 0};
  all.push_back(unary(
      "rectify", [](E x) { return rectify(x); }, [](double x) { return x > 0 ? x : 0; }));
  all.back().kinks = {0};
  all.back().extremes = {-kInfinity, 1e30, -1e30, 0};
  all.push_back(unary(
      "exp", [](E x) { return exp(x); }, [](double x) { return std::exp(x); }));
  all.back().extremes = {-kInfinity, -1e4, -120, 0, 80};
  all.push_back(unary(
      "log", [](E x) { return log(x); }, [](double x) { return std::log(x); }));
  all.back().low = 0.2, all.back().high = 5;
  all.back().extremes = {0, kInfinity, 1e-30, 1e30};
  all.push_back(unary(
      "sqrt", [](E x) { return sqrt(x); }, [](double x) { return std::sqrt(x); }));
  all.back().low = 0.2, all.back().high = 5;
  all.back().extremes = {0, kInfinity, 1e-30, 1e30};
  all.push_back(unary(
      "square", [](E x) { return square(x); }, [](double x) { return x * x; }));
  all.back().extremes = {1e15, -1e15, 0};
  all.push_back(unary(
      "cube", [](E x) { return cube(x); }, [](double x) { return x * x * x; }));
  all.back().extremes = {1e10, -1e10, 0};
  all.push_back(unary(
      "abs", [](E x) { return abs(x); }, [](double x) { return std::abs(x); }));
  all.back().kinks = {0};
  all.back().extremes = {1e30, -1e30, 0, -kInfinity};
  all.push_back(unary(
      "log_sigmoid", [](E x) { return log_sigmoid(x); },
      [](double x) { return std::min(x, 0.0) - std::log1p(std::exp(-std::abs(x))); }));
  all.back().low = -6, all.back().high = 6;
  all.back().extremes = {1e30, -1e30, 100, -100, 0, kInfinity};
  all.push_back(unary(
      "softsign", [](E x) { return softsign(x); }, [](double x) { return x / (1 + std::abs(x)); }));
  all.back().kinks = {0};
  all.back().extremes = {1e30, -1e30, 0};
  all.push_back(unary(
      "elu", [](E x) { return elu(x); }, [](double x) { return x > 0 ? x : std::expm1(x); }));
  all.back().kinks = {0};
  all.back().extremes = {1e30, -1e30, -kInfinity, 0};
  all.push_back(unary(
      "elu 0.7", [](E x) { return elu(x, 0.7f); },
      [](double x) { return x > 0 ? x : static_cast<double>(0.7f) * std::expm1(x); }));
  all.back().kinks = {0};
  const std::vector<OpCase> more = more_elementwise_cases();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

DYNET_OP_TESTS("elementwise", elementwise_cases())

TEST_CASE("elementwise: a NaN stays a NaN at any place of an array") {
  for (const OpCase& c : elementwise_cases()) {
    INFO(c.name);
    ComputationGraph g;
    std::vector<float> v(21, 1.0f);
    v[3] = v[20] = std::numeric_limits<float>::quiet_NaN();
    Operand x;
    x.push_back(input(g, {21}, v));
    const std::vector<float> y = as_vector(c.build(x).value());
    CHECK(std::isnan(y[3]));
    CHECK(std::isnan(y[20]));
  }
}

TEST_CASE("elementwise: steps pass the gradient on, or none") {
  for (const auto& step : {round, ceil, floor})
    for (const GradientMode mode : {zero_gradient, straight_through_gradient}) {
      ComputationGraph g;
      ParameterCollection model;
      Parameter p = model.add_parameters({3});
      p.set_value({0.25f, -1.75f, 2.0f});
      const Expression y = step(parameter(g, p), mode, SourceLocation::current());
      g.backward(sum_elems(cmult(y, input(g, {3}, {1, 2, 3}))));
      CHECK(as_vector(p.gradients()) ==
            (mode == zero_gradient ? std::vector<float>{0, 0, 0} : std::vector<float>{1, 2, 3}));
    }
}

}  // namespace dynet::test

TEST_CASE("the exponential of minus infinity is zero, in the middle and at the end of an array") {
  using namespace dynet;
  ComputationGraph g;
  std::vector<float> x(21, -std::numeric_limits<float>::infinity());
  x[3] = std::numeric_limits<float>::infinity();
  x[20] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> y = as_vector(exp(input(g, {21}, x)).value());
  for (std::size_t i = 0; i < 20; ++i) CHECK(y[i] == (i == 3 ? x[3] : 0.0f));
  CHECK(std::isnan(y[20]));
}
