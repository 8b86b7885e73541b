// Threads: the samples of one update on several cores, with the same result on any number of them.
//
// Graphs are independent; any number of them may run at the same time over the same parameters.
// BatchTrainer cuts a minibatch into eight lanes, each a graph of its own, computes them on its
// threads, adds their gradients in the order of the lanes, and makes the update. The result depends
// on the number of lanes, but neither on the number of threads nor on their timing: the two runs
// below end with the same bits.
//
// A builder such as an LSTM refers to its current graph, so every thread works with a copy of the
// model that it gets. Copies share the parameters.
//
// DyNet uses processes and shared memory instead; PyTorch uses DistributedDataParallel.
#include <chrono>
#include <iostream>
#include <random>
#include <vector>

#include "dynet-like/distributed/batch_trainer.h"
#include "dynet-like/dynet.h"

using namespace dynet;

namespace {

constexpr unsigned kMinibatch = 64, kHidden = 64;
using Bits = std::vector<unsigned>;

// Whether a sequence of bits has more ones than zeros.
struct Majority {
  explicit Majority(ParameterCollection& parameters)
      : embeddings(parameters.add_lookup_parameters(2, {8})),
        lstm(1, 8, kHidden, parameters),
        w(parameters.add_parameters({2, kHidden})) {}

  // Called for each graph.
  void new_graph(ComputationGraph& cg) {
    lstm.new_graph(cg);
    W = parameter(cg, w);
  }
  // The loss of a sample.
  Expression loss(ComputationGraph& cg, const Bits& bits) {
    lstm.start_new_sequence();
    unsigned ones = 0;
    for (const unsigned bit : bits) {
      ones += bit;
      lstm.add_input(lookup(cg, embeddings, bit));
    }
    return pickneglogsoftmax(W * lstm.back(), unsigned{2 * ones > bits.size()});
  }

  LookupParameter embeddings;
  VanillaLSTMBuilder lstm;
  Parameter w;
  Expression W;
};

// Returns the loss of the last update.
double train(unsigned threads) {
  ParameterCollection parameters;
  const Majority model(parameters);
  AdamTrainer adam(parameters, 0.01f);
  BatchTrainer trainer(adam, {.threads = threads});
  std::mt19937 random(1);
  double loss = 0;
  for (unsigned step = 0; step < 300; ++step) {
    std::vector<Bits> minibatch(kMinibatch, Bits(15));
    for (Bits& bits : minibatch)
      for (unsigned& bit : bits) bit = random() % 2;
    loss = trainer.update(model, minibatch, &Majority::loss);
  }
  return loss;
}

}  // namespace

int main() {
  constexpr double kBound = 0.05;  // bound of the loss of the last update
  double first = 0;
  for (const unsigned threads : {1u, 2u}) {
    const auto begin = std::chrono::steady_clock::now();
    const double loss = train(threads);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    std::cout << threads << (threads == 1 ? " thread:  " : " threads: ") << "loss " << loss << ", "
              << time.count() << " s\n";
    if (threads == 1) first = loss;
    if (loss != first) {
      std::cerr << "The number of threads changed the result.\n";
      return 1;
    }
  }

  if (first < kBound) return 0;
  std::cerr << "The loss is " << first << ", which should be below " << kBound << ".\n";
  return 1;
}
