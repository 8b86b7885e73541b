// Means, deviations and norms of numbers whose sums or squares are too large for float, though the
// results are not.

#include "tests/ops/large_numbers.h"

#include "tests/support/prelude.h"

namespace dynet::test {
namespace {

std::vector<float> times(std::vector<float> x, float unit) {
  for (float& e : x) e *= unit;
  return x;
}

void check_close(const std::vector<float>& got, const std::vector<float>& expected, float unit) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    INFO("element " << k << ": " << got[k] << ", expected " << expected[k] << " times " << unit);
    CHECK(std::abs(static_cast<double>(got[k]) / unit - expected[k]) <=
          1e-5 * std::max(1.0, std::abs(static_cast<double>(expected[k]))));
  }
}

/// How the value of an operation, and the gradient, grow with the unit of its operand.
struct Case {
  const char* name;
  int value_power, gradient_power;
  std::function<Expression(const Expression&)> build;
};

}  // namespace

void check_large_numbers(const std::function<void(ComputationGraph&)>& prepare) {
  using E = const Expression&;
  const Dim matrix({5, 4});
  const Case cases[] = {
      {"mean_elems", 1, 0, OF_X(mean_elems(x))},
      {"mean_dim 0", 1, 0, OF_X(mean_dim(x, {0}))},
      {"mean_dim 1", 1, 0, OF_X(mean_dim(x, {1}))},
      {"mean_batches", 1, 0, OF_X(mean_batches(reshape(x, Dim({5}, 4))))},
      {"mean_batches of one", 1, 0, OF_X(mean_batches(reshape(x, Dim({1}, 20))))},
      {"average of two", 1, 0, OF_X(average({x, x}))},
      {"average of four", 1, 0, OF_X(average({x, x, x, x}))},
      {"average, broadcast", 1, 0, OF_X(average({x, mean_dim(x, {1}), x}))},
      {"moment_dim 1", 1, 0, OF_X(moment_dim(x, {1}, 1))},
      {"std_elems", 1, 0, OF_X(std_elems(x))},
      {"std_dim 0", 1, 0, OF_X(std_dim(x, {0}))},
      {"std_dim 1", 1, 0, OF_X(std_dim(x, {1}))},
      {"std_batches", 1, 0, OF_X(std_batches(reshape(x, Dim({5}, 4))))},
      {"l2_norm", 1, 0, OF_X(l2_norm(x))},
      {"layer_norm", 0, -1,
       [](E x) {
         const Expression v = reshape(x, {20});
         return layer_norm(v, constant(*x.pg, {20}, 1.5f), constant(*x.pg, {20}, 0.5f));
       }},
      {"weight_norm", 0, -1, OF_X(weight_norm(x, constant(*x.pg, {1}, 2.0f)))},
  };
  std::vector<float> numbers;
  for (int k = 0; k < 20; ++k) numbers.push_back(1.5f + static_cast<float>(std::sin(2.1 * k)));
  std::vector<float> weights;
  for (int k = 0; k < 20; ++k) weights.push_back(0.5f + 0.05f * static_cast<float>(k * 7 % 20));
  for (const Case& c : cases) {
    const auto run = [&](float unit) {
      ParameterCollection model;
      Parameter p = model.add_parameters(matrix, ParameterInitFromVector(times(numbers, unit)));
      ComputationGraph g;
      prepare(g);
      const Expression y = c.build(parameter(g, p));
      const std::vector<float> w(weights.begin(),
                                 weights.begin() + static_cast<std::ptrdiff_t>(y.dim().size()));
      const Expression loss = sum_elems(cmult(y, input(g, y.dim(), w)));
      g.backward(y.dim().bd == 1 ? loss : sum_batches(loss));
      return std::pair(as_vector(y.value()), as_vector(p.gradients()));
    };
    const auto [value, gradient] = run(1);
    for (const float unit : {1e10f, 1e30f, 3e37f}) {
      INFO(c.name << " in units of " << unit);
      const auto [large_value, large_gradient] = run(unit);
      check_close(large_value, value, c.value_power == 1 ? unit : 1);
      if (c.gradient_power == 0 || unit < 1e36f)  // else it is smaller than floats are
        check_close(large_gradient, gradient, c.gradient_power == 0 ? 1 : 1 / unit);
    }
  }
}

}  // namespace dynet::test

TEST_CASE("means, deviations and norms of large numbers are in range") {
  dynet::test::check_large_numbers([](dynet::ComputationGraph&) {});
}
