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

#define OF_DOUBLE(...) [=](double x) { return __VA_ARGS__; }
#define WITH_NUMBER(EXPRESSION, NUMBER)                                     \
  with_number(                                                              \
      #EXPRESSION, [](const Expression& x, float a) { return EXPRESSION; }, \
      [](double x, double a) { return EXPRESSION; }, NUMBER)

}  // namespace

std::vector<OpCase> elementwise_cases() {
  using E = const Expression&;
  using F = double (*)(double);
  std::vector<OpCase> all = {WITH_NUMBER(x + a, 1.5), WITH_NUMBER(a + x, 1.5),
                             WITH_NUMBER(x - a, 1.5), WITH_NUMBER(a - x, 1.5),
                             WITH_NUMBER(x * a, 2.5), WITH_NUMBER(a * x, 2.5),
                             WITH_NUMBER(x / a, 3)};
  const auto add = [&](const std::string& name, std::function<Expression(E)> op,
                       std::function<double(double)> f, double low, double high,
                       std::vector<double> extremes, std::vector<double> kinks = {}) {
    all.push_back(unary(name, op, f));
    all.back().low = low, all.back().high = high;
    all.back().extremes = extremes;
    all.back().kinks = kinks;
  };
  add("-x", OF_X(-x), OF_DOUBLE(-x), -1.5, 1.5, {});
  const std::vector<double> large = {-kInfinity, kInfinity, 1e4, -1e4, 1e30, 0};
  add("tanh", OF_X(tanh(x)), F(std::tanh), -4, 4, large);
  add("logistic", OF_X(logistic(x)), sigmoid, -6, 6, large);
  add("rectify", OF_X(rectify(x)), OF_DOUBLE(x > 0 ? x : 0), -1.5, 1.5,
      {-kInfinity, 1e30, -1e30, 0}, {0});
  add("exp", OF_X(exp(x)), F(std::exp), -1.5, 1.5, {-kInfinity, -1e4, -120, 0, 80});
  add("log", OF_X(log(x)), F(std::log), 0.2, 5, {0, kInfinity, 1e-30, 1e30});
  add("sqrt", OF_X(sqrt(x)), F(std::sqrt), 0.2, 5, {0, kInfinity, 1e-30, 1e30});
  add("square", OF_X(square(x)), OF_DOUBLE(x * x), -1.5, 1.5, {1e15, -1e15, 0});
  add("cube", OF_X(cube(x)), OF_DOUBLE(x * x * x), -1.5, 1.5, {1e10, -1e10, 0});
  add("abs", OF_X(abs(x)), F(std::abs), -1.5, 1.5, {1e30, -1e30, 0, -kInfinity}, {0});
  add("log_sigmoid", OF_X(log_sigmoid(x)),
      OF_DOUBLE(std::min(x, 0.0) - std::log1p(std::exp(-std::abs(x)))), -6, 6,
      {1e30, -1e30, 100, -100, 0, kInfinity});
  add("softsign", OF_X(softsign(x)), OF_DOUBLE(x / (1 + std::abs(x))), -1.5, 1.5, {1e30, -1e30, 0},
      {0});
  add("elu", OF_X(elu(x)), OF_DOUBLE(x > 0 ? x : std::expm1(x)), -1.5, 1.5,
      {1e30, -1e30, -kInfinity, 0}, {0});
  add("elu 0.7", OF_X(elu(x, 0.7f)),
      OF_DOUBLE(x > 0 ? x : static_cast<double>(0.7f) * std::expm1(x)), -1.5, 1.5, {}, {0});
  add("selu", OF_X(selu(x)),
      OF_DOUBLE(1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x))), -3, 3,
      {1e30, -1e30, -kInfinity, 0}, {0});
  for (const float beta : {1.0f, 0.7f})
    add("silu, beta " + std::to_string(beta), OF_X(beta == 1 ? silu(x) : silu(x, beta)),
        OF_DOUBLE(x == -kInfinity ? 0 : x * sigmoid(static_cast<double>(beta) * x)), -6, 6,
        {1e30, -1e30, -kInfinity, 100, -100, 0});
  add("erf", OF_X(erf(x)), F(std::erf), -3, 3, {kInfinity, -kInfinity, 10, -10, 0});
  add("lgamma", OF_X(lgamma(x)), F(std::lgamma), 0.2, 5, {1e5, 1e-3, 1, 2});
  add("sin", OF_X(sin(x)), F(std::sin), -4, 4, {0, 1e4, -1e4});
  add("cos", OF_X(cos(x)), F(std::cos), -4, 4, {0, 1e4, -1e4});
  add("tan", OF_X(tan(x)), F(std::tan), -1.2, 1.2, {0});
  add("asin", OF_X(asin(x)), F(std::asin), -0.9, 0.9, {1, -1, 0});
  add("acos", OF_X(acos(x)), F(std::acos), -0.9, 0.9, {1, -1, 0});
  add("atan", OF_X(atan(x)), F(std::atan), -4, 4, {kInfinity, -kInfinity, 1e30, 0});
  add("sinh", OF_X(sinh(x)), F(std::sinh), -3, 3, {20, -20, 0});
  add("cosh", OF_X(cosh(x)), F(std::cosh), -3, 3, {20, -20, 0});
  add("asinh", OF_X(asinh(x)), F(std::asinh), -4, 4, {1e10, -1e10, 1e30, 0});
  add("acosh", OF_X(acosh(x)), F(std::acosh), 1.2, 5, {1, 1e10, 1e30});
  add("atanh", OF_X(atanh(x)), F(std::atanh), -0.9, 0.9, {1, -1, 0});
  const std::vector<double> whole = {-3, -2, -1, 0, 1, 2, 3};
  const std::vector<double> halves = {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5};
  std::vector<double> steps = {1e30, -1e30, kInfinity, -kInfinity};
  steps.insert(steps.end(), whole.begin(), whole.end());
  steps.insert(steps.end(), halves.begin(), halves.end());
  add("round", OF_X(round(x, zero_gradient)), F(std::round), -3, 3, steps, halves);
  add("ceil", OF_X(ceil(x, zero_gradient)), F(std::ceil), -3, 3, steps, whole);
  add("floor", OF_X(floor(x, zero_gradient)), F(std::floor), -3, 3, steps, whole);
  return all;
}

DYNET_OP_TESTS("elementwise", elementwise_cases())

TEST_CASE("elementwise: steps pass the gradient on, or none") {
  for (const auto& step : {round, ceil, floor})
    for (const GradientMode mode : {zero_gradient, straight_through_gradient}) {
      auto [model, p, g, x] = Variable({3}, {0.25f, -1.75f, 2.0f});
      const Expression y = step(x, mode, SourceLocation::current());
      g.backward(sum_elems(cmult(y, input(g, {3}, {1, 2, 3}))));
      CHECK(as_vector(p.gradients()) ==
            (mode == zero_gradient ? std::vector<float>{0, 0, 0} : std::vector<float>{1, 2, 3}));
    }
}

}  // namespace dynet::test
