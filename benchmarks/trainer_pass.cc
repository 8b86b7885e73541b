// How long an update takes by parameter, when every parameter has a gradient.
#include <algorithm>
#include <cstdio>

#include "benchmarks/measure.h"
#include "dynet-like/dynet.h"

namespace {

using namespace dynet;

template <class SomeTrainer>
void measure(const char* name, unsigned rows, unsigned columns, bool clip) {
  ParameterCollection model;
  const Parameter w = model.add_parameters({rows, columns});
  SomeTrainer trainer(model);
  trainer.clipping_enabled = clip;
  double best = 1e9;
  for (int r = 0; r < 40; ++r) {
    ComputationGraph cg;
    cg.backward(squared_norm(parameter(cg, w)));
    best = std::min(best, bench::fastest(1, [&] { trainer.update(); }));
  }
  const double n = static_cast<double>(model.parameter_count());
  std::printf("%-20s %9.0f parameters   %6.3f ns each   %8.1f us an update\n", name, n,
              1e9 * best / n, 1e6 * best);
}

}  // namespace

int main() {
  std::printf("calibrator           %9.1f GFLOP/s\n", bench::calibrator());
  for (const unsigned columns : {360u, 8000u}) {
    measure<AdamTrainer>("Adam", 500, columns, false);
    measure<AdamTrainer>("Adam, clipping", 500, columns, true);
    measure<SimpleSGDTrainer>("SGD", 500, columns, false);
    measure<SimpleSGDTrainer>("SGD, clipping", 500, columns, true);
  }
}
