#include "dynet-like/ops/elementwise.h"

#include <cmath>
#include <limits>

#include "dynet-like/ops/inputs.h"
#include "tests/ops/cases.h"
#include "tests/support/catch.h"

namespace dynet::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

OpCase unary(const std::string& name, std::function<Expression(const Expression&)> op,
             std::function<double(double)> f) {
  OpCase c;
  c.name = name;
  c.shapes = [](Shapes& s) { return std::vector{s.any(4)}; };
  c.build = [op](const Operand& x) { return op(x[0]); };
  c.reference = [f](const Arrays& x) { return map(x[0], f); };
  return c;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

std::vector<OpCase> elementwise_cases() {
  using E = const Expression&;
  std::vector<OpCase> all;
  all.push_back(unary(
      "-x", [](E x) { return -x; }, [](double x) { return -x; }));
  all.push_back(unary(
      "x + 1.5", [](E x) { return x + 1.5f; }, [](double x) { return x + 1.5; }));
  all.push_back(unary(
      "1.5 + x", [](E x) { return 1.5f + x; }, [](double x) { return x + 1.5; }));
  all.push_back(unary(
      "x - 1.5", [](E x) { return x - 1.5f; }, [](double x) { return x - 1.5; }));
  all.push_back(unary(
      "1.5 - x", [](E x) { return 1.5f - x; }, [](double x) { return 1.5 - x; }));
  all.push_back(unary(
      "x * 2.5", [](E x) { return x * 2.5f; }, [](double x) { return x * 2.5; }));
  all.push_back(unary(
      "2.5 * x", [](E x) { return 2.5f * x; }, [](double x) { return x * 2.5; }));
  all.push_back(unary(
      "x / 3", [](E x) { return x / 3.0f; }, [](double x) { return x / 3; }));

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
  all.push_back(unary(
      "sqrt", [](E x) { return sqrt(x); }, [](double x) { return std::sqrt(x); }));
  all.back().low = 0.2, all.back().high = 5;
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
  return all;
}

DYNET_OP_TESTS("elementwise", elementwise_cases())

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
