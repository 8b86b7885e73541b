#include <iostream>

#include "dynet-like/dynet.h"

int main() {
  dynet::ParameterCollection pc;
  pc.set_seed(1);
  auto W = pc.add_parameters({8, 2}), b = pc.add_parameters({8});
  auto V = pc.add_parameters({1, 8}), a = pc.add_parameters({1});
  dynet::SimpleSGDTrainer trainer(pc);
  float error = 0;
  for (int step = 0; step < 1000; ++step) {
    dynet::ComputationGraph cg;
    auto x = input(cg, dynet::Dim({2}, 4), {-1, -1, -1, 1, 1, -1, 1, 1});  // a batch of four
    auto y = input(cg, dynet::Dim({1}, 4), {-1, 1, 1, -1});
    auto hidden = tanh(parameter(cg, W) * x + parameter(cg, b));
    auto output = parameter(cg, V) * hidden + parameter(cg, a);
    auto loss = sum_batches(squared_distance(output, y));
    error = as_scalar(cg.forward(loss));
    cg.backward(loss);
    trainer.update();
  }
  std::cout << "error " << error << '\n';
  return error < 0.01f ? 0 : 1;
}
