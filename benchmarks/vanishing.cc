// Time of gradients that vanish: through long sequences with a loss at their end, and in updates.
#include <cstdio>

#include "benchmarks/measure.h"
#include "dynet-like/dynet.h"

namespace {

using namespace dynet;

constexpr unsigned kSize = 64, kRows = 100;
constexpr int kRounds = 5;

template <class Network>
void measure_backward(const char* name, unsigned steps) {
  ParameterCollection pc;
  pc.set_seed(3);
  Network rnn(1, kSize, kSize, pc);
  const LookupParameter words = pc.add_lookup_parameters(kRows, {kSize});
  const Parameter w = pc.add_parameters({2, kSize});
  double backward = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    ComputationGraph g;
    rnn.new_graph(g);
    rnn.start_new_sequence();
    Expression h;
    for (unsigned t = 0; t < steps; ++t) h = rnn.add_input(lookup(g, words, t % kRows));
    const Expression loss = pickneglogsoftmax(parameter(g, w) * h, 1);
    g.forward(loss);
    backward = std::min(backward, bench::fastest(1, [&] { g.backward(loss); }));
    pc.reset_gradient();
  }
  std::printf("%-4s %5u steps: backward %8.1f us a hundred steps\n", name, steps,
              1e8 * backward / steps);
}

template <class T>
void measure_update(const char* name, float gradient) {
  ParameterCollection pc;
  const Parameter w = pc.add_parameters({512, 512});
  T trainer(pc);
  double update = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    ComputationGraph g;
    g.backward(sum_elems(parameter(g, w)) * gradient);
    update = std::min(update, bench::fastest(1, [&] { trainer.update(); }));
  }
  std::printf("%-4s gradients of %g: update %8.1f us\n", name, static_cast<double>(gradient),
              1e6 * update);
}

}  // namespace

int main() {
  for (const unsigned steps : {100u, 300u, 1000u}) {
    measure_backward<VanillaLSTMBuilder>("LSTM", steps);
    measure_backward<GRUBuilder>("GRU", steps);
  }
  for (const float gradient : {1.0f, 1e-20f}) {
    measure_update<SimpleSGDTrainer>("SGD", gradient);
    measure_update<AdamTrainer>("Adam", gradient);
  }
  return 0;
}
