// Elementwise operations on the device, relative to what they should be.

#include "tests/ops/accuracy.h"

#include "dynet-like/base/cuda_devices.h"
#include "tests/cuda/device.h"
#include "tests/ops/forbidden.h"
#include "tests/ops/infinities.h"
#include "tests/ops/large_numbers.h"
#include "tests/ops/large_scores.h"

using namespace dynet;
using namespace dynet::test;

namespace {
void use_device(ComputationGraph& g) { g.set_device(gpu()); }
Backend<float> device() { return Backend<float>(cuda::kDevices.make_backend(0)); }
}  // namespace

TEST_CASE("operations of elements are right to 1e-6 of their values on the device", "[cuda]") {
  for (const AccuracyCase& c : accuracy_cases()) check_accuracy<float>(c, device);
  for (const BinaryAccuracyCase& c : binary_accuracy_cases()) check_accuracy<float>(c, device);
}

TEST_CASE("means, deviations and norms of large numbers are in range on the device", "[cuda]") {
  check_large_numbers(use_device);
}

TEST_CASE("infinities: reductions and softmaxes handle infinite operands on the device", "[cuda]") {
  check_infinities(use_device);
}

TEST_CASE("log-probabilities of what is forbidden have no gradient on the device", "[cuda]") {
  check_forbidden(use_device);
}

TEST_CASE("entropies of structures with large scores keep their gradients' digits on the device",
          "[cuda]") {
  check_large_scores(device);
}
