// Exclusive or: the smallest problem that needs a hidden layer.
//
// Every program of this course has these four parts:
//
//   1. Parameters. A ParameterCollection owns everything that is trained. It outlives the graphs.
//   2. A ComputationGraph, built again for every sample. Operators and functions such as tanh()
//      compute nothing yet: each adds a node and returns an Expression, a small handle to it.
//   3. forward() computes values. backward() computes the gradient of a scalar, the loss, with
//      respect to every parameter that it depends on, and adds it to that parameter's gradient.
//   4. A trainer. update() takes one step of gradient descent and clears the gradients.
//
// The graph is ordinary C++: an if, a loop or a recursive function of the program becomes an if, a
// loop or a recursion of the network. Its shape can differ from sample to sample.
#include <iostream>

#include "dynet-like/dynet.h"

using namespace dynet;

int main() {
  constexpr unsigned kHidden = 8;
  constexpr float kBound = 0.01f;  // upper bound of the mean loss in the last epoch

  // Shapes are column-major: {rows, columns}. Initial values (Glorot) depend on the seed only, so
  // runs are reproducible.
  ParameterCollection model;
  model.set_seed(1);
  Parameter W = model.add_parameters({kHidden, 2}), b = model.add_parameters({kHidden});
  Parameter V = model.add_parameters({1, kHidden}), a = model.add_parameters({1});
  SimpleSGDTrainer trainer(model, 0.1f);

  float loss = 0;
  for (int epoch = 0; epoch < 40; ++epoch) {
    loss = 0;
    for (int sample = 0; sample < 4; ++sample) {
      const float x1 = sample & 1 ? 1 : -1, x2 = sample & 2 ? 1 : -1;
      const float target = x1 != x2 ? 1 : -1;

      ComputationGraph cg;
      Expression x = input(cg, {2}, {x1, x2});
      Expression hidden = tanh(parameter(cg, W) * x + parameter(cg, b));
      Expression y = parameter(cg, V) * hidden + parameter(cg, a);
      Expression error = squared_distance(y, input(cg, target));

      loss += as_scalar(cg.forward(error)) / 4;
      cg.backward(error);
      trainer.update();
    }
    if (epoch % 10 == 9) std::cout << "epoch " << epoch + 1 << ": loss " << loss << '\n';
  }

  // The comparison is also false for NaN.
  if (loss < kBound) return 0;
  std::cerr << "The loss is " << loss << ", which should be below " << kBound << ".\n";
  return 1;
}
