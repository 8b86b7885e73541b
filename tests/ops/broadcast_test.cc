#include "dynet-like/ops/broadcast.h"

#include <algorithm>
#include <limits>

#include "dynet-like/ops/inputs.h"
#include "tests/ops/cases.h"
#include "tests/support/catch.h"

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
  c.bad = {{{Dim({2}), Dim({3})}},
           {{Dim({2, 3}), Dim({3, 2})}},
           {{Dim({2}, 2), Dim({2}, 3)}},
           {{Dim({4, 1, 2}), Dim({4, 1, 3})}},
           {{Dim({0}), Dim({2})}}};
  return c;
}

double sum_of(const std::vector<double>& v) {
  double s = 0;
  for (double x : v) s += x;
  return s;
}

}  // namespace

std::vector<OpCase> broadcast_cases() {
  using E = const Expression&;
  std::vector<OpCase> all;
  all.push_back(binary(
      "x + y", [](E x, E y) { return x + y; }, [](double x, double y) { return x + y; }));
  all.push_back(binary(
      "x - y", [](E x, E y) { return x - y; }, [](double x, double y) { return x - y; }));
  all.push_back(binary(
      "cmult", [](E x, E y) { return cmult(x, y); }, [](double x, double y) { return x * y; }));
  all.push_back(binary(
      "x / y", [](E x, E y) { return x / y; }, [](double x, double y) { return x / y; }));
  all.back().low = 0.4, all.back().high = 2;
  all.push_back(binary(
      "cdiv", [](E x, E y) { return cdiv(x, y); }, [](double x, double y) { return x / y; }));
  all.back().low = 0.4, all.back().high = 2;
  all.push_back(binary(
      "max", [](E x, E y) { return max(x, y); },
      [](double x, double y) { return std::max(x, y); }));
  all.back().distinct = true;
  all.back().extremes = {-std::numeric_limits<double>::infinity(), 1e30, -1e30};
  all.push_back(binary(
      "min", [](E x, E y) { return min(x, y); },
      [](double x, double y) { return std::min(x, y); }));
  all.back().distinct = true;
  all.back().extremes = {-std::numeric_limits<double>::infinity(), 1e30, -1e30};

  OpCase c;
  c.name = "sum";
  c.shapes = several;
  c.build = [](const Operand& x) { return sum(x); };
  c.reference = [](const Arrays& x) { return zip(x, sum_of); };
  c.bad = {{{}, Throws::argument_error},
           {{Dim({2}), Dim({2}), Dim({3})}},
           {{Dim({2}, 2), Dim({2}), Dim({2}, 3)}}};
  all.push_back(c);
  c.name = "average";
  c.build = [](const Operand& x) { return average(x); };
  c.reference = [](const Arrays& x) {
    return zip(
        x, [](const std::vector<double>& v) { return sum_of(v) / static_cast<double>(v.size()); });
  };
  all.push_back(c);
  return all;
}

DYNET_OP_TESTS("broadcast", broadcast_cases())

TEST_CASE("broadcast: the operand list may be written out") {
  ComputationGraph g;
  const Expression x = constant(g, {2}, 1.0f), y = constant(g, {2}, 4.0f);
  CHECK(as_vector(sum({x, y, y}).value()) == std::vector<float>{9, 9});
  CHECK(as_vector(average({x, y, y}).value()) == std::vector<float>{3, 3});
}

}  // namespace dynet::test
