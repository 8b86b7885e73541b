// Devices: the same program on a CPU or on a GPU.
//
// A graph gets its device before its first node; all operations run there. Parameters follow: they
// are copied to the device at their first use and remain there together with the state of the
// trainer, which updates them in place. Only reading a value waits for the GPU, so a fast loop
// reads the loss occasionally, not in every update.
//
// A part of a model can be on another device. The table of word embeddings below is on the CPU,
// like a table too large for the GPU; to_device() copies its rows, and their gradients back.
//
// The program takes the name of a device, such as GPU:0. The default is the first GPU that the
// library can use, otherwise the CPU. On the CPU to_device() has no cost.
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"

using namespace dynet;

namespace {

Device* choose(int argc, char** argv) {
  const DeviceManager& devices = *get_device_manager();
  std::cout << "devices: " << devices.names() << '\n';
  if (argc > 1) return devices.get_global_device(argv[1]);  // DeviceError if it does not exist
  return devices.get(devices.num_devices() > 1 ? 1 : 0);    // device 0 is the CPU
}

}  // namespace

int main(int argc, char** argv) {
  constexpr unsigned kWords = 50, kHidden = 32, kBatch = 64;
  constexpr float kBound = 0.1f;  // bound of the loss of the last update

  Device* const cpu = get_device_manager()->get_global_device("CPU");
  Device* const device = choose(argc, argv);
  std::cout << "the network is on " << std::string(device->name) << '\n';

  // Task: predict which of two words has the larger number.
  ParameterCollection model, network = model.add_subcollection("network");
  network.set_device(device);
  LookupParameter words =
      model.add_lookup_parameters(kWords, {8}, ParameterInitNormal(0, 0.1f), "words", cpu);
  Parameter W = network.add_parameters({kHidden, 16}), b = network.add_parameters({kHidden});
  Parameter V = network.add_parameters({2, kHidden});
  AdamTrainer trainer(model, 0.01f);

  std::mt19937 random(1);
  float loss = 0;
  for (int step = 1; step <= 500; ++step) {
    std::vector<unsigned> left(kBatch), right(kBatch), larger(kBatch);
    for (unsigned k = 0; k < kBatch; ++k) {
      left[k] = random() % kWords, right[k] = random() % kWords;
      larger[k] = left[k] > right[k];
    }

    ComputationGraph cg;
    cg.set_device(device);
    Expression rows = concatenate({lookup(cg, words, left), lookup(cg, words, right)});  // CPU
    Expression x = to_device(rows, device);
    Expression hidden = tanh(affine_transform({parameter(cg, b), parameter(cg, W), x}));
    Expression mean = mean_batches(pickneglogsoftmax(parameter(cg, V) * hidden, larger));
    cg.backward(mean);
    trainer.update();
    if (step % 100 == 0) {
      loss = as_scalar(mean.value());
      std::cout << "update " << step << ": loss " << loss << " on " << mean.get_device_name()
                << '\n';
    }
  }

  if (loss < kBound) return 0;
  std::cerr << "The loss is " << loss << ", which should be below " << kBound << ".\n";
  return 1;
}
