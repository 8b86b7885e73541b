// Inverses and determinants of matrices on both sides of the size from which on cuBLAS finds their
// factors.

#include "tests/cuda/check_equal.h"

using namespace dynet;
using namespace dynet::test;

namespace {

/// Two batches of matrices with a large diagonal, whose rows are turned by `turn` places.
Floats turned(unsigned n, unsigned turn) {
  Floats all(std::size_t{2} * n * n);
  for (unsigned i = 0; i < n; ++i)
    for (unsigned j = 0; j < n; ++j)
      for (unsigned e = 0; e < 2; ++e)
        all[(std::size_t{e} * n + j) * n + (i + turn) % n] =
            (i == j ? 4.0f : 0.0f) + 0.3f * std::sin(static_cast<float>(7 * i + 3 * j + 5 * e));
  return all;
}

/// Values and gradients of the inverse and of the logarithm of the determinant.
std::vector<Floats> run(unsigned n, const Floats& matrices, bool on_device) {
  ParameterCollection pc;
  DeviceGraph g(on_device ? gpu() : nullptr);
  const Expression x = input(g, Dim({n, n}, 2), matrices), y = 2 * x;
  const Expression inverses[] = {inverse(x), inverse(y)}, logdets[] = {logdet(x), logdet(y)};
  const Expression weights = constant(g, {n, n}, 0.5f) + x;
  const Expression loss = sum_batches(sum({sum_elems(cmult(inverses[0], weights)),
                                           sum_elems(inverses[1]), logdets[0], 3 * logdets[1]}));
  g.backward(loss, true);
  std::vector<Floats> all;
  for (const auto* of : {inverses, logdets})
    for (unsigned k = 0; k < 2; ++k) all.push_back(values(of[k]));
  all.push_back(gradient(x));
  return all;
}

}  // namespace

TEST_CASE("inverses and determinants of all sizes are the CPU's", "[cuda]") {
  for (const unsigned n : {1u, 8u, 32u, 33u, 40u})
    for (const unsigned turn : {0u, 2u, 5u}) {  // by which rows are exchanged
      CAPTURE(n, turn);
      const Floats matrices = turned(n, turn % n);
      check_equal(run(n, matrices, false), run(n, matrices, true), 2e-4, 2e-4);
    }
}

TEST_CASE("a matrix without an inverse has none on the device, whatever its size", "[cuda]") {
  for (const unsigned n : {32u, 33u}) {
    CAPTURE(n);
    Floats matrices = turned(n, 0);
    for (unsigned i = 0; i < n; ++i) matrices[5 * n + i] = 0;  // a column of the first
    DeviceGraph g;
    const Expression x = input(g, Dim({n, n}, 2), matrices);
    const Floats inverses = as_vector(inverse(x).value()), logs = as_vector(logdet(x).value());
    bool finite = true;
    for (unsigned i = 0; i < n * n; ++i) {
      finite = finite && std::isfinite(inverses[i]);
      CHECK(std::isfinite(inverses[n * n + i]));
    }
    CHECK_FALSE(finite);
    CHECK(logs[0] == -INFINITY);
    CHECK(std::isfinite(logs[1]));
  }
}

#ifndef DYNET_TEST_GPU
TEST_CASE("the factors of all larger matrices of a batch are found at once", "[cuda]") {
  const auto& now = emulation::counts();
  for (const unsigned n : {32u, 33u}) {
    const std::size_t before = now.factorizations;
    run(n, turned(n, 0), true);
    // Two inverses are one batch, and so are two determinants each way.
    CHECK(now.factorizations - before == (n > 32 ? 3u : 0u));
  }
}
#endif
