// Threads: the samples of one update on several cores, with the same result on any number of them.
//
// Graphs are independent; any number of them may run at the same time over the same parameters.
// Workers runs jobs on threads. Here a minibatch is split into four shards, each with its own
// graph. set_gradient_buffer(shard) selects the buffer of the shard's gradients; the trainer adds
// the four sums in the order of their numbers. The result depends on the split, but neither on the
// number of threads nor on their timing: the two runs below end with the same bits.
//
// A builder such as an LSTM refers to its current graph, so each shard needs its own copy. Copies
// share the parameters.
//
// DyNet uses processes and shared memory instead; PyTorch uses DistributedDataParallel.
#include <array>
#include <chrono>
#include <iostream>
#include <random>
#include <vector>

#include "dynet-like/base/workers.h"
#include "dynet-like/dynet.h"

using namespace dynet;

namespace {

constexpr unsigned kShards = 4, kHidden = 64;

// Learns whether a sequence of bits has more ones than zeros. Returns the loss of the last update.
float train(unsigned threads) {
  ParameterCollection model;
  LookupParameter embeddings = model.add_lookup_parameters(2, {8});
  VanillaLSTMBuilder lstm(1, 8, kHidden, model);
  Parameter W = model.add_parameters({2, kHidden});
  AdamTrainer trainer(model, 0.01f);
  std::vector<VanillaLSTMBuilder> builders(kShards, lstm);
  Workers workers(threads);

  float loss = 0;
  for (unsigned step = 0; step < 300; ++step) {
    std::array<float, kShards> losses;
    workers.run(kShards, [&](unsigned shard) {
      std::mt19937 random(kShards * step + shard);
      ComputationGraph cg;
      cg.set_gradient_buffer(shard);
      builders[shard].new_graph(cg);
      std::vector<Expression> each;
      for (int k = 0; k < 16; ++k) {
        builders[shard].start_new_sequence();
        unsigned ones = 0;
        for (int t = 0; t < 15; ++t) {
          const unsigned bit = random() % 2;
          ones += bit;
          builders[shard].add_input(lookup(cg, embeddings, bit));
        }
        Expression scores = parameter(cg, W) * builders[shard].back();
        each.push_back(pickneglogsoftmax(scores, unsigned{ones > 7}));
      }
      Expression mean = average(each);
      losses[shard] = as_scalar(cg.forward(mean));
      cg.backward(mean);
    });
    trainer.update(1.0f / kShards);  // mean of the shards
    loss = 0;
    for (const float l : losses) loss += l / kShards;
  }
  return loss;
}

}  // namespace

int main() {
  constexpr float kBound = 0.05f;  // bound of the loss of the last update
  float first = 0;
  for (const unsigned threads : {1u, 2u}) {
    const auto begin = std::chrono::steady_clock::now();
    const float loss = train(threads);
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
