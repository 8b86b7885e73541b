#include "tests/layers/cells.h"

namespace lstm_norm_test {

using namespace dynet;
using naive::Vector;

namespace {

Vector normalized(Vector v, const Vector& gain, const Vector& bias) {
  double mean = 0, variance = 0;
  for (double x : v) mean += x / static_cast<double>(v.size());
  for (double x : v) variance += (x - mean) * (x - mean) / static_cast<double>(v.size());
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = gain[i] * (v[i] - mean) / std::sqrt(variance) + bias[i];
  return v;
}

}  // namespace

TEST_CASE("an LSTM with layer normalization computes what the paper says") {
  const unsigned in = 3, hidden = 4;
  ParameterCollection pc;
  VanillaLSTMBuilder lstm(1, in, hidden, pc, true, 0.5f);
  naive::spread(pc);
  const std::vector<Parameter> p = lstm.get_parameter_collection().parameters_list();
  REQUIRE(p.size() == 9);
  CHECK(pc.parameter_count() == 4 * hidden * (in + hidden + 1) + 4 * 4 * hidden + 2 * hidden);
  const auto w = [&](unsigned k) { return naive::values(p[k]); };
  ComputationGraph g;
  lstm.new_graph(g);
  lstm.start_new_sequence();
  Vector h, c(hidden, 0.0);
  const Vector bias = w(2);
  for (unsigned t = 0; t < 4; ++t) {
    const std::vector<float> x = naive::numbers(in, 50 + t);
    const std::vector<float> y = as_vector(lstm.add_input(input(g, {in}, x)).value());
    Vector sums = normalized(naive::times(p[0], naive::to_double(x)), w(5), w(6));
    if (t > 0) {
      const Vector more = normalized(naive::times(p[1], h), w(3), w(4));
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
    }
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += bias[i];
    for (unsigned i = 0; i < hidden; ++i)
      c[i] = naive::logistic(sums[i]) * std::tanh(sums[3 * hidden + i]) +
             naive::logistic(sums[hidden + i] + 0.5) * c[i];
    const Vector out = normalized(c, w(7), w(8));
    h.resize(hidden);
    for (unsigned i = 0; i < hidden; ++i) {
      h[i] = naive::logistic(sums[2 * hidden + i]) * std::tanh(out[i]);
      CHECK(y[i] == Approx(h[i]).margin(1e-5));
    }
  }
}

}  // namespace lstm_norm_test
