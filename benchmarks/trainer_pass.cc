// Time of an update per parameter, if every parameter has a gradient.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

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

// One update of a large table with few used rows.
void measure_table(const char* name, bool sparse) {
  constexpr unsigned kRows = 50'000, kSize = 100, kUsed = 500;
  ParameterCollection model;
  const LookupParameter table = model.add_lookup_parameters(kRows, {kSize});
  AdamTrainer trainer(model);
  trainer.sparse_updates_enabled = sparse;
  const int updates = 200;
  const RandomStream random(1);
  const double seconds = bench::fastest(1, [&] {
    for (std::uint64_t t = 0; t < updates; ++t) {
      std::vector<unsigned> rows;
      for (std::uint64_t k = 0; k < kUsed; ++k)  // skewed to small numbers, like words
        rows.push_back(static_cast<unsigned>(kRows * std::pow(random.uniform(kUsed * t + k), 4)));
      ComputationGraph cg;
      cg.backward(sum_batches(squared_norm(lookup(cg, table, rows))));
      trainer.update();
    }
  });
  std::printf("%-20s %6u of %u rows used         %8.1f us an update with its graph\n", name, kUsed,
              kRows, 1e6 * seconds / updates);
}

}  // namespace

int main() {
  std::printf("calibrator           %9.1f GFLOP/s\n", bench::calibrator());
  for (const unsigned columns : {360u, 8000u}) {
    measure<AdamTrainer>("Adam", 500, columns, false);
    measure<AdamTrainer>("Adam, clipping", 500, columns, true);
    measure<SimpleSGDTrainer>("SGD", 500, columns, false);
    measure<SimpleSGDTrainer>("SGD, clipping", 500, columns, true);
    measure<MomentumSGDTrainer>("Momentum", 500, columns, false);
    measure<AdagradTrainer>("Adagrad", 500, columns, false);
    measure<AdadeltaTrainer>("Adadelta", 500, columns, false);
    measure<RMSPropTrainer>("RMSProp", 500, columns, false);
    measure<AmsgradTrainer>("Amsgrad", 500, columns, false);
    measure<AdamWTrainer>("AdamW", 500, columns, false);
  }
  measure_table("Adam, dense", false);
  measure_table("Adam, touched rows", true);
}
