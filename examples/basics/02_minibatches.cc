// Minibatches: many samples in one tensor.
//
// The batch dimension is separate from the other dimensions. Dim({2}, 32) is a minibatch of 32
// vectors of two values: its size is {2}, its batch size 32. All operations work on each batch
// element independently. An operand with batch size 1, such as a parameter, is broadcast. The model
// below is therefore the model of a single sample; only the input is wider.
//
// A loss has batch size 32 as well, one number per sample. mean_batches() reduces it to the scalar
// that backward() needs. The gradient of a parameter is the sum over the minibatch, and W * x is
// one matrix product instead of 32 matrix-vector products.
//
// In PyTorch the batch is an ordinary dimension, by convention the first, and a model written for
// one sample may need changes. Here it needs none.
#include <iostream>
#include <random>
#include <vector>

#include "dynet-like/dynet.h"

using namespace dynet;

int main() {
  constexpr unsigned kBatch = 32, kHidden = 24;
  constexpr float kBound = 0.15f;  // bound of the mean loss of the last 100 updates

  ParameterCollection model;
  Parameter W = model.add_parameters({kHidden, 2}), b = model.add_parameters({kHidden});
  Parameter V = model.add_parameters({2, kHidden}), a = model.add_parameters({2});
  AdamTrainer trainer(model, 0.01f);

  std::mt19937 random(1);
  const auto uniform = [&] { return 2.0f * static_cast<float>(random() % 1000) / 1000.0f - 1.0f; };

  float mean = 0;
  for (int step = 0; step < 1000; ++step) {
    // Points of a square: class 1 inside a disc in its middle, class 0 outside.
    std::vector<float> points;
    std::vector<unsigned> classes;
    for (unsigned k = 0; k < kBatch; ++k) {
      const float x = uniform(), y = uniform();
      points.insert(points.end(), {x, y});  // batch elements are concatenated
      classes.push_back(x * x + y * y < 0.5f);
    }

    ComputationGraph cg;
    Expression x = input(cg, Dim({2}, kBatch), points);
    Expression hidden = tanh(affine_transform({parameter(cg, b), parameter(cg, W), x}));
    Expression scores = affine_transform({parameter(cg, a), parameter(cg, V), hidden});
    Expression losses = pickneglogsoftmax(scores, classes);  // {1}, batch size 32
    Expression loss = mean_batches(losses);                  // {1}, batch size 1

    if (step == 0) std::cout << "x " << x.dim() << ", losses " << losses.dim() << '\n';
    if (step % 100 == 0) mean = 0;
    mean += as_scalar(cg.forward(loss)) / 100;
    cg.backward(loss);
    trainer.update();
    if (step % 250 == 249)
      std::cout << "update " << step + 1 << ": loss of a minibatch " << as_scalar(loss.value())
                << '\n';
  }

  std::cout << "mean loss of the last 100 updates: " << mean << '\n';
  if (mean < kBound) return 0;
  std::cerr << "The loss is " << mean << ", which should be below " << kBound << ".\n";
  return 1;
}
