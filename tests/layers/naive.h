#pragma once

#include "tests/support/prelude.h"

/// Recurrent networks as the textbook writes them, one number after another, in double.
namespace naive {

using Vector = std::vector<double>;

/// n numbers that depend on the seed alone.
inline std::vector<float> numbers(std::size_t n, std::uint64_t seed) {
  const dynet::RandomStream random(seed);
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(random.normal(i)) * 0.7f;
  return x;
}

inline Vector to_double(const std::vector<float>& x) { return {x.begin(), x.end()}; }
inline double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// W x for a column-major W.
inline Vector times(const dynet::Parameter& w, const Vector& x) {
  const dynet::Tensor t = w.values();
  Vector y(t.d.rows(), 0.0);
  for (std::size_t j = 0; j < x.size(); ++j)
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += double(t.v[j * y.size() + i]) * x[j];
  return y;
}
inline Vector plus(Vector a, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}
inline Vector masked(Vector a, const Vector& mask) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] *= mask.empty() ? 1 : mask[i];
  return a;
}

inline Vector softmax_of(Vector scores) {
  double total = 0;
  for (double& x : scores) total += x = std::exp(x);
  for (double& x : scores) x /= total;
  return scores;
}

/// x[from], ..., x[to - 1].
template <class T>
std::vector<T> part(const std::vector<T>& x, std::size_t from, std::size_t to) {
  return {x.begin() + static_cast<std::ptrdiff_t>(from),
          x.begin() + static_cast<std::ptrdiff_t>(to)};
}

/// The state of all layers.
struct State {
  std::vector<Vector> c, h;
};

struct Masks {
  std::vector<Vector> input, output;  // by layer; none: no dropout
};

inline State lstm_step(const dynet::VanillaLSTMBuilder& builder, unsigned layers, unsigned hidden,
                       double forget_bias, const State& before, Vector x, const Masks& masks = {}) {
  const auto parameters = builder.get_parameter_collection().parameters_list();
  State after;
  for (unsigned l = 0; l < layers; ++l) {
    const dynet::Parameter &wx = parameters[3 * l], &wh = parameters[3 * l + 1],
                           &b = parameters[3 * l + 2];
    Vector h = before.h.empty() ? Vector(hidden, 0.0) : before.h[l];
    const Vector c = before.c.empty() ? Vector(hidden, 0.0) : before.c[l];
    if (!masks.input.empty()) x = masked(x, masks.input[l]);
    if (!masks.output.empty()) h = masked(h, masks.output[l]);
    const Vector a = plus(plus(times(wx, x), times(wh, h)), to_double(as_vector(b.values())));
    Vector new_c(hidden), new_h(hidden);
    for (unsigned k = 0; k < hidden; ++k) {
      const double i = logistic(a[k]), f = logistic(a[hidden + k] + forget_bias),
                   o = logistic(a[2 * hidden + k]), g = std::tanh(a[3 * hidden + k]);
      new_c[k] = i * g + f * c[k];
      new_h[k] = o * std::tanh(new_c[k]);
    }
    after.c.push_back(new_c);
    after.h.push_back(new_h);
    x = new_h;
  }
  return after;
}

inline State rnn_step(const dynet::SimpleRNNBuilder& builder, unsigned layers, unsigned hidden,
                      bool lags, const State& before, Vector x, const Vector& aux = {},
                      const Masks& masks = {}) {
  const auto parameters = builder.get_parameter_collection().parameters_list();
  const unsigned each = lags ? 4 : 3;
  State after;
  for (unsigned l = 0; l < layers; ++l) {
    Vector h = before.h.empty() ? Vector(hidden, 0.0) : before.h[l];
    if (!masks.input.empty()) x = masked(x, masks.input[l]);
    if (!masks.output.empty()) h = masked(h, masks.output[l]);
    Vector y = plus(plus(times(parameters[each * l], x), times(parameters[each * l + 1], h)),
                    to_double(as_vector(parameters[each * l + 2].values())));
    if (!aux.empty()) y = plus(y, times(parameters[each * l + 3], aux));
    for (double& v : y) v = std::tanh(v);
    after.h.push_back(y);
    x = y;
  }
  return after;
}

/// An error with such a part of a sentence, thrown at a line.
template <class F>
void throws_here(F&& use, const std::string& part, unsigned line) {
  try {
    use();
    FAIL("nothing was thrown, expected: " << part);
  } catch (const dynet::Error& e) {
    INFO(e.what());
    CHECK(std::string(e.what()).find(part) != std::string::npos);
    CHECK(e.where().line == line);
    CHECK(std::string(e.where().file).find("tests/layers/") != std::string::npos);
  }
}

/// The largest difference.
template <class T>
double difference(const Vector& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return INFINITY;
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(b[i])) return INFINITY;
    worst = std::max(worst, std::abs(a[i] - b[i]));
  }
  return worst;
}

inline double difference(const dynet::Expression& a, const dynet::Expression& b) {
  return difference(to_double(as_vector(a.value())), as_vector(b.value()));
}

}  // namespace naive
