// Saving, loading, resuming.
//
// save() writes any number of objects into one file: collections, trainers, dictionaries, numbers,
// strings, vectors, and anything with a serialize() for Boost. load() reads them in the same order.
// A file is written atomically, sections have checksums, and parameters are found by name: a
// mismatch throws a FileError that names it, and changes nothing.
//
// A trainer belongs into the file as well. It has the moments of Adam and the number of updates, so
// that a resumed run continues exactly, here to the last bit. Random draws are the program's own;
// this one draws sample k from k.
//
// The second half of main() keeps the newest of several files, as in a long training.
#include <filesystem>
#include <iostream>
#include <random>

#include "dynet-like/dynet.h"
#include "dynet-like/io/checkpoints.h"
#include "dynet-like/io/save.h"

using namespace dynet;

namespace {

// Complete state of a run.
struct Run {
  ParameterCollection model;
  Parameter W = model.add_parameters({16, 1}, "W"), b = model.add_parameters({16}, "b");
  Parameter V = model.add_parameters({1, 16}, "V");
  AdamTrainer trainer{model, 0.01f};
  unsigned step = 0;
  float mean = 1;  // running mean of the loss

  // Learns x^2 on [-1, 1], one sample at a time.
  void train(unsigned updates) {
    for (const unsigned end = step + updates; step < end; ++step) {
      const float x = static_cast<float>(std::mt19937(step)() % 2001) / 1000 - 1;
      ComputationGraph cg;
      Expression hidden = tanh(parameter(cg, W) * input(cg, {1}, {x}) + parameter(cg, b));
      Expression loss = squared_distance(parameter(cg, V) * hidden, input(cg, x * x));
      mean = 0.99f * mean + 0.01f * as_scalar(cg.forward(loss));
      cg.backward(loss);
      trainer.update();
    }
  }
};

}  // namespace

int main() {
  constexpr float kBound = 0.006f;  // bound of the running mean of the loss
  const std::string path = "08_saving.dynet";

  Run first;
  first.train(2000);
  save(path, first.model, first.trainer, first.step, first.mean);
  first.train(2000);

  // Stands for another process: same parameters, same trainer class, other values before load().
  Run second;
  load(path, second.model, second.trainer, second.step, second.mean);
  std::cout << "resumed after " << second.step << " updates, loss " << second.mean << '\n';
  second.train(2000);
  std::cout << "after " << second.step << " updates: loss " << second.mean << ", without a break "
            << first.mean << '\n';
  std::filesystem::remove(path);
  if (second.mean != first.mean) {
    std::cerr << "The run that was resumed differs.\n";
    return 1;
  }

  // A folder of numbered files that keeps the newest three.
  const Checkpoints checkpoints("08_checkpoints", 3);
  for (int k = 0; k < 5; ++k) checkpoints.save(first.model, first.trainer, first.step);
  Run third;
  checkpoints.load(third.model, third.trainer, third.step);  // the newest; false without files
  std::cout << checkpoints.paths().size() << " checkpoints, the newest of update " << third.step
            << '\n';
  std::filesystem::remove_all("08_checkpoints");

  if (second.mean < kBound) return 0;
  std::cerr << "The loss is " << second.mean << ", which should be below " << kBound << ".\n";
  return 1;
}
