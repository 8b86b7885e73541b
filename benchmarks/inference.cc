// Forward passes with set_inference, compared to those of training: time, and memory of values.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>

#include "benchmarks/measure.h"
#include "benchmarks/training/task.h"

namespace {

using namespace dynet;

constexpr int kRounds = 40;

struct Cost {
  double seconds = 1e30, bytes = 0;
};

/// Best time of forward, and memory of values. `build` adds equal nodes in every call.
Cost forward(const std::function<Expression(ComputationGraph&)>& build, bool inference) {
  Cost cost;
  for (int r = 0; r < kRounds; ++r) {
    ComputationGraph cg;
    cg.set_inference(inference);
    const Expression e = build(cg);
    cost.seconds = std::min(cost.seconds, bench::fastest(1, [&] { cg.forward(e); }));
    cost.bytes = static_cast<double>(cg.statistics().value_bytes);
  }
  return cost;
}

void compare(const char* name, const std::function<Expression(ComputationGraph&)>& build) {
  const Cost training = forward(build, false), inference = forward(build, true);
  std::printf("%-24s us %9.1f %9.1f   %4.2f times as fast   MiB %8.2f %8.3f   1/%.0f\n", name,
              1e6 * training.seconds, 1e6 * inference.seconds, training.seconds / inference.seconds,
              training.bytes / (1 << 20), inference.bytes / (1 << 20),
              training.bytes / inference.bytes);
}

void long_lstm() {
  constexpr unsigned kSteps = 2000, kWord = 128, kHidden = 256;
  ParameterCollection model;
  const LookupParameter words = model.add_lookup_parameters(100, {kWord});
  VanillaLSTMBuilder lstm(1, kWord, kHidden, model);
  compare("LSTM, 2,000 steps", [&](ComputationGraph& cg) {
    lstm.new_graph(cg);
    lstm.start_new_sequence();
    for (unsigned t = 0; t < kSteps; ++t) lstm.add_input(lookup(cg, words, t * 7 % 100));
    return lstm.back();
  });
}

void tagger(const char* name, std::size_t group) {
  bench::TaggedText text = bench::make_tagged_text();
  text.sentences.resize(group);
  const auto task = bench::make_tagger(std::move(text));
  compare(name, [&](ComputationGraph& cg) { return task->build(cg, 0, group); });
}

}  // namespace

int main() {
  std::printf("calibrator %.1f GFLOP/s\n%-24s    training inference\n", bench::calibrator(), "");
  long_lstm();
  tagger("BiLSTM tagger, group 1", 1);
  tagger("BiLSTM tagger, group 64", 64);
}
