// Chains whose transitions are so large that their sums would lose the digits of other scores.
#include <cmath>
#include <limits>
#include <vector>

#include "dynet-like/dynet.h"
#include "tests/cuda/device.h"
#include "tests/support/catch.h"

using namespace dynet;
using namespace dynet::test;

namespace {

constexpr unsigned kTags = 4, kWords = 6, kLongest = 2;

std::vector<float> waves(std::size_t n, float phase) {
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = 2 * std::sin(static_cast<float>(i) * 1.7f + phase);
  return v;
}

struct Sums {
  std::vector<float> marginals, d_transitions;
};
Sums sums(Device* device, bool segments, bool of_each_step, float more) {
  ParameterCollection pc;
  const unsigned matrices = of_each_step ? kWords - 1 : 1;
  Parameter a = pc.add_parameters({kTags, kTags, matrices});
  std::vector<float> transitions = waves(std::size_t{kTags} * kTags * matrices, 1);
  for (float& x : transitions) x = std::round(x) + more;
  a.set_value(transitions);
  DeviceGraph g(device);
  const unsigned rows = segments ? kTags * kLongest : kTags;
  const Expression x = input(g, {rows, kWords}, waves(std::size_t{rows} * kWords, 0));
  const Expression start = input(g, {kTags}, waves(kTags, 2)),
                   stop = input(g, {kTags}, waves(kTags, 3));
  Expression all = parameter(g, a);
  if (!of_each_step) all = reshape(all, {kTags, kTags});
  const Expression log_z = segments ? semi_crf_log_partition(x, all, start, stop)
                                    : crf_log_partition(x, all, start, stop);
  const Expression m =
      segments ? semi_crf_marginals(x, all, start, stop) : crf_marginals(x, all, start, stop);
  Sums s;
  s.marginals = as_vector(m.value());
  g.backward(log_z);
  s.d_transitions = as_vector(a.gradients());
  return s;
}

double sum_of(const std::vector<float>& v) {
  double sum = 0;
  for (const float x : v) sum += static_cast<double>(x);
  return sum;
}

}  // namespace

TEST_CASE("large transitions into an impossible label leave the others' digits", "[cuda]") {
  const auto marginals = [](float into_first) {
    std::vector<float> transitions = waves(kTags * kTags, 1), scores = waves(kTags * kWords, 0);
    for (unsigned i = 0; i < kTags; ++i) transitions[i] += into_first;
    for (unsigned t = 1; t < kWords; ++t)
      scores[t * kTags] = -std::numeric_limits<float>::infinity();
    DeviceGraph g;
    const auto of = [&](const Dim& d, const std::vector<float>& v) { return input(g, d, v); };
    return as_vector(semi_crf_marginals(of({kTags, kWords}, scores),
                                        of({kTags, kTags}, transitions),
                                        of({kTags}, waves(kTags, 2)), of({kTags}, waves(kTags, 3)))
                         .value());
  };
  const std::vector<float> plain = marginals(0), large = marginals(1e6f);
  for (std::size_t i = 0; i < plain.size(); ++i) CHECK(large[i] == Approx(plain[i]).margin(1e-5));
}

TEST_CASE("chains with large transitions have the probabilities of the CPU", "[cuda]") {
  for (const int kind : {0, 1, 2})
    for (const float more : {0.0f, 1e4f, -1e6f, -1e30f}) {
      CAPTURE(kind, more);
      const bool of_each_step = kind == 1, segments = kind == 2;
      const Sums here = sums(gpu(), segments, of_each_step, more),
                 there = sums(nullptr, segments, of_each_step, more);
      if (!segments) {
        CHECK(sum_of(here.marginals) == Approx(kWords).epsilon(1e-5));
        CHECK(sum_of(here.d_transitions) == Approx(kWords - 1).epsilon(1e-5));
      }
      for (std::size_t i = 0; i < here.marginals.size(); ++i)
        CHECK(here.marginals[i] == Approx(there.marginals[i]).margin(1e-4));
      for (std::size_t i = 0; i < here.d_transitions.size(); ++i)
        CHECK(here.d_transitions[i] == Approx(there.d_transitions[i]).margin(1e-4));
    }
}
