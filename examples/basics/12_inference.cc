// Inference: running a trained model with little memory.
//
// Training keeps every value, since backward() reads them. A graph that only runs forward need not:
// with set_inference(true) the memory of a value is reused after its last use in graphs of more
// than 8 MiB, such as that of a long text. A freed value that is read later is recomputed. Values
// have the same bits as in training. backward() is an error in such a graph.
//
// Dropout is switched off for inference: it is part of the function that builds the graph, which
// therefore has an argument for it. And one graph can serve many requests: clear() removes its
// nodes, but keeps its memory and settings.
//
// The task: a lamp is switched on and off at random; predict at each step whether it is on. The
// network is trained on sequences of 20 steps, and run on one of 10,000.
#include <algorithm>
#include <iostream>
#include <random>
#include <vector>

#include "dynet-like/dynet.h"

using namespace dynet;

namespace {

enum Event : unsigned { kNothing, kOn, kOff, kEvents };

struct Sequence {
  std::vector<unsigned> events, lamp;
};

Sequence draw(std::mt19937& random, unsigned steps) {
  Sequence s;
  for (unsigned t = 0; t < steps; ++t) {
    s.events.push_back(random() % 5 ? kNothing : random() % 2 ? kOn : kOff);
    const unsigned before = t > 0 ? s.lamp.back() : 0;
    s.lamp.push_back(s.events.back() == kNothing ? before : s.events.back() == kOn);
  }
  return s;
}

struct Network {
  ParameterCollection model;
  LookupParameter embeddings = model.add_lookup_parameters(kEvents, {8});
  VanillaLSTMBuilder lstm{1, 8, 64, model};
  Parameter W = model.add_parameters({2, 64});

  // A column of two scores per step.
  Expression scores(ComputationGraph& cg, const std::vector<unsigned>& events, bool training) {
    lstm.set_dropout(training ? 0.1f : 0.0f);
    lstm.new_graph(cg);
    lstm.start_new_sequence();
    const Expression w = parameter(cg, W);
    std::vector<Expression> columns;
    for (const unsigned event : events)
      columns.push_back(w * lstm.add_input(lookup(cg, embeddings, event)));
    return concatenate_cols(columns);
  }
};

}  // namespace

int main() {
  constexpr float kBound = 0.01f;  // bound of the error rate
  Network network;
  AdamTrainer trainer(network.model, 0.005f);
  std::mt19937 random(1);
  for (int step = 0; step < 1000; ++step) {
    const Sequence s = draw(random, 20);
    ComputationGraph cg;
    cg.set_seed(random());  // seed of the dropout
    Expression columns = reshape(network.scores(cg, s.events, true), Dim({2}, 20));  // a minibatch
    cg.backward(mean_batches(pickneglogsoftmax(columns, s.lamp)));
    trainer.update();
  }

  const Sequence s = draw(random, 10000);
  std::vector<float> answers[2];
  std::size_t bytes[2];
  ComputationGraph cg;
  for (const bool inference : {true, false}) {
    cg.clear();
    cg.set_inference(inference);
    answers[inference] = as_vector(cg.forward(network.scores(cg, s.events, false)));
    bytes[inference] = cg.statistics().value_bytes;
    std::cout << (inference ? "in inference: " : "in training: ") << bytes[inference] / 1024
              << " KiB for values\n";
  }
  if (answers[0] != answers[1] || 4 * bytes[1] > bytes[0]) return 1;

  std::size_t wrong = 0;
  for (std::size_t t = 0; t < s.lamp.size(); ++t)
    wrong += (answers[1][2 * t + 1] > answers[1][2 * t]) != (s.lamp[t] == 1);
  const float share = static_cast<float>(wrong) / static_cast<float>(s.lamp.size());
  std::cout << "wrong answers: " << 100 * share << " %\n";
  if (share < kBound) return 0;
  std::cerr << "The share is " << share << ", which should be below " << kBound << ".\n";
  return 1;
}
