// Many processes: the same program on several machines, with the same bits on any number of them.
//
//     18_distributed                 one process
//     mpirun -n 4 18_distributed     four, on one machine or on several
//
// Every process builds the same model and has the same data. A minibatch is distributed to 32
// lanes, and each process computes its own lanes. update() sums the gradients of all lanes in an
// order that depends on the number of lanes only, and all processes make the same step. The
// checksum below is therefore identical for any number of processes and threads.
//
// DistributedTrainer wraps any trainer. PyTorch's DistributedDataParallel has results that depend
// on the world size; DyNet has no counterpart.
#include <cstdlib>
#include <exception>
#include <iomanip>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "dynet-like/distributed/distributed_trainer.h"
#include "dynet-like/distributed/mpi/world.h"
#include "dynet-like/dynet.h"

using namespace dynet;

namespace {

constexpr unsigned kUpdates = 600, kMinibatch = 64, kWords = 20, kHidden = 24;

// Learns whether the first word of a sentence is repeated. Returns the loss per sample of the last
// update.
double train(Communicator& world) {
  ParameterCollection model;
  LookupParameter embeddings = model.add_lookup_parameters(kWords, {12});
  VanillaLSTMBuilder lstm(1, 12, kHidden, model);
  Parameter W = model.add_parameters({2, kHidden}), b = model.add_parameters({2});
  AdamTrainer adam(model, 0.02f);
  DistributedTrainer trainer(adam, world);
  double loss = 0;
  for (unsigned update = 0; update < kUpdates; ++update) {
    trainer.for_each_lane(kMinibatch, [&](const Lane& lane) {
      ComputationGraph cg;
      lane.begin(cg);  // where the gradients of this lane go
      lstm.new_graph(cg);
      const Expression w = parameter(cg, W), bias = parameter(cg, b);
      std::vector<Expression> losses;
      for (std::size_t i = lane.samples.begin; i < lane.samples.end; ++i) {
        std::mt19937 random(static_cast<unsigned>(update * kMinibatch + i));
        lstm.start_new_sequence();
        const unsigned first = random() % kWords;
        bool again = false;
        lstm.add_input(lookup(cg, embeddings, first));
        for (unsigned left = 1 + random() % 4; left > 0; --left) {
          const unsigned word = random() % 3 ? random() % kWords : first;
          again = again || word == first;
          lstm.add_input(lookup(cg, embeddings, word));
        }
        losses.push_back(pickneglogsoftmax(w * lstm.back() + bias, unsigned{again}));
      }
      const Expression total = sum(losses);
      const double value = as_scalar(cg.forward(total));
      cg.backward(total);
      return value;
    });
    trainer.update(1.0f / kMinibatch);
    loss = trainer.loss() / kMinibatch;
  }
  if (world.rank() == 0)
    std::cout << world.size() << (world.size() == 1 ? " process" : " processes") << ": loss "
              << loss << ", parameters " << std::hex << trainer.parameter_checksum() << std::dec
              << std::endl;
  return loss;
}

}  // namespace

int main() try {
  constexpr double kBound = 0.2;
  const auto world = join_world();
  if (const std::string warning = launcher_warning(*world); !warning.empty())
    std::cerr << warning << '\n';
  double loss = 0;
  guarded(*world, [&] { loss = train(*world); });  // an error in one process ends all
  if (loss < kBound) return 0;
  if (world->rank() == 0)
    std::cerr << "The loss is " << loss << ", which should be below " << kBound << ".\n";
  return 1;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
