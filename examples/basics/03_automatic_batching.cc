// Automatic batching: many small operations run as a few large ones.
//
// Minibatches need samples of one shape. Sentences, trees and graphs have different shapes, and
// padding costs time and code. Automatic batching avoids padding: put the samples of an update into
// one graph, each as its own small network, and compute the sum of their losses. Before the graph
// is computed, the library groups independent nodes with equal operations and operand shapes; each
// group is one kernel call. Products are grouped if they share the matrix.
//
// Batching is on by default. ComputationGraph(false) runs node after node, for comparison: values
// have the same bits.
//
// statistics() returns the number of nodes of the graph and the number of batches that they ran in.
#include <iostream>
#include <random>
#include <vector>

#include "dynet-like/dynet.h"

using namespace dynet;

namespace {

struct Sample {
  std::vector<unsigned> bits;  // of any length
  unsigned label;              // true: more ones than zeros
};

Sample draw(std::mt19937& random) {
  Sample s;
  s.bits.resize(3 + 2 * (random() % 6));
  std::size_t ones = 0;
  for (unsigned& bit : s.bits) ones += bit = random() % 2;
  s.label = 2 * ones > s.bits.size();
  return s;
}

}  // namespace

int main() {
  constexpr unsigned kHidden = 16, kSamples = 32;
  constexpr float kBound = 0.05f;  // bound of the mean loss of the last 50 updates

  ParameterCollection model;
  LookupParameter embeddings = model.add_lookup_parameters(2, {4});
  VanillaLSTMBuilder lstm(1, 4, kHidden, model);
  Parameter W = model.add_parameters({2, kHidden});
  AdamTrainer trainer(model, 0.01f);

  const auto build = [&](ComputationGraph& cg, const std::vector<Sample>& samples) {
    lstm.new_graph(cg);
    const Expression w = parameter(cg, W);
    std::vector<Expression> losses;
    for (const Sample& s : samples) {
      lstm.start_new_sequence();
      for (unsigned bit : s.bits) lstm.add_input(lookup(cg, embeddings, bit));
      losses.push_back(pickneglogsoftmax(w * lstm.back(), s.label));
    }
    return average(losses);
  };

  std::mt19937 random(1);
  float mean = 0;
  for (int step = 0; step < 300; ++step) {
    std::vector<Sample> samples;
    for (unsigned k = 0; k < kSamples; ++k) samples.push_back(draw(random));

    ComputationGraph cg;
    Expression loss = build(cg, samples);
    if (step % 50 == 0) mean = 0;
    mean += as_scalar(cg.forward(loss)) / 50;
    cg.backward(loss);

    if (step == 0) {  // the same graph without batching
      ComputationGraph alone(false);
      Expression same = build(alone, samples);
      const bool equal = as_scalar(alone.forward(same)) == as_scalar(loss.value());
      const GraphStatistics s = cg.statistics();
      std::cout << s.nodes << " nodes ran in " << s.batches << " batches, one by one in "
                << alone.statistics().batches << "; the loss is " << (equal ? "" : "not ")
                << "the same\n";
      if (!equal || 6 * s.batches > alone.statistics().batches) return 1;
    }
    trainer.update();
  }

  std::cout << "mean loss of the last 50 updates: " << mean << '\n';
  if (mean < kBound) return 0;
  std::cerr << "The loss is " << mean << ", which should be below " << kBound << ".\n";
  return 1;
}
