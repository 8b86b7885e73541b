// Chains whose transitions are so large that their sums would lose the digits of other scores.

#include "tests/cuda/check_equal.h"

using namespace dynet;
using namespace dynet::test;

namespace {

constexpr unsigned kTags = 4, kWords = 6, kLongest = 2;

Floats waves(std::size_t n, float phase) {
  Floats v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = 2 * std::sin(static_cast<float>(i) * 1.7f + phase);
  return v;
}

/// Marginals, and gradients of the transitions.
std::vector<Floats> sums(Device* device, bool segments, bool of_each_step, float more) {
  ParameterCollection pc;
  const unsigned matrices = of_each_step ? kWords - 1 : 1;
  Parameter a = pc.add_parameters({kTags, kTags, matrices});
  Floats transitions = waves(std::size_t{kTags} * kTags * matrices, 1);
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
  const Floats marginals = values(m);
  g.backward(log_z);
  return {marginals, as_vector(a.gradients())};
}

}  // namespace

TEST_CASE("large transitions into an impossible label leave the others' digits", "[cuda]") {
  const auto marginals = [](float into_first) {
    Floats transitions = waves(kTags * kTags, 1), scores = waves(kTags * kWords, 0);
    for (unsigned i = 0; i < kTags; ++i) transitions[i] += into_first;
    for (unsigned t = 1; t < kWords; ++t)
      scores[t * kTags] = -std::numeric_limits<float>::infinity();
    DeviceGraph g;
    const auto of = [&](const Dim& d, const Floats& v) { return input(g, d, v); };
    return values(semi_crf_marginals(of({kTags, kWords}, scores), of({kTags, kTags}, transitions),
                                     of({kTags}, waves(kTags, 2)), of({kTags}, waves(kTags, 3))));
  };
  check_equal({marginals(0)}, {marginals(1e6f)}, 1e-5, 1e-5);
}

TEST_CASE("chains with large transitions have the probabilities of the CPU", "[cuda]") {
  for (const int kind : {0, 1, 2})
    for (const float more : {0.0f, 1e4f, -1e6f, -1e30f}) {
      CAPTURE(kind, more);
      const bool of_each_step = kind == 1, segments = kind == 2;
      const auto there = sums(gpu(), segments, of_each_step, more);
      const unsigned totals[] = {kWords, kWords - 1};
      for (std::size_t k = 0; k < 2 && !segments; ++k)
        CHECK(std::accumulate(there[k].begin(), there[k].end(), 0.0) ==
              Approx(totals[k]).epsilon(1e-5));
      check_equal(sums(nullptr, segments, of_each_step, more), there, 1e-5, 1e-4);
    }
}
