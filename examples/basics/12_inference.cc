// Inference: running a trained model in little memory.
//
// Training keeps every value, since backward() reads them. A graph that only runs forward does not
// need them: with set_inference(true) the memory of a value is used again as soon as no node waits
// for it. A value that is asked for after that is computed again. Values have the same bits as in
// training. backward() is an error in such a graph.
//
// Three more things belong to inference. Dropout is switched off: it is part of the function that
// builds the graph, so it takes an argument there. Answers are read with as_vector(). And one graph
// can serve many requests: clear() removes its nodes, and keeps its memory and its settings.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <random>
#include <vector>

#include "dynet-like/dynet.h"

using namespace dynet;

namespace {

constexpr unsigned kLayers = 10, kHidden = 32, kClasses = 3;

struct Network {
  explicit Network(ParameterCollection& model) : in(model.add_parameters({kHidden, 2})) {
    for (unsigned k = 0; k < kLayers; ++k)
      layers.push_back(model.add_parameters({kHidden, kHidden}));
    out = model.add_parameters({kClasses, kHidden});
  }
  Expression scores(ComputationGraph& cg, const Expression& x, bool training) const {
    Expression h = rectify(parameter(cg, in) * x);
    for (const Parameter& W : layers) {
      if (training) h = dropout(h, 0.05f);
      h = h + rectify(parameter(cg, W) * h) * 0.5f;  // a residual connection
    }
    return parameter(cg, out) * h;
  }
  Parameter in, out;
  std::vector<Parameter> layers;
};

// A point in the plane and its class: which of three sectors it is in.
unsigned classify(float x, float y) { return y > std::abs(x) ? 0 : x > 0 ? 1 : 2; }

float draw(std::mt19937& random) { return static_cast<float>(random() % 2001) / 1000 - 1; }

}  // namespace

int main() {
  constexpr float kBound = 0.1f;  // of the share of wrong answers

  ParameterCollection model;
  Network network(model);
  AdamTrainer trainer(model, 0.002f);
  std::mt19937 random(1);
  std::size_t training_bytes = 0;
  for (int step = 0; step < 300; ++step) {
    std::vector<float> x(2 * 64);
    std::vector<unsigned> classes(64);
    for (float& v : x) v = draw(random);
    for (std::size_t k = 0; k < 64; ++k) classes[k] = classify(x[2 * k], x[2 * k + 1]);
    ComputationGraph cg;
    cg.set_seed(random());  // of the dropout
    Expression scores = network.scores(cg, input(cg, Dim({2}, 64), x), true);
    cg.backward(mean_batches(pickneglogsoftmax(scores, classes)));
    training_bytes = cg.statistics().value_bytes;
    trainer.update();
  }

  ComputationGraph cg;
  cg.set_inference(true);
  std::size_t inference_bytes = 0;
  int wrong = 0;
  for (int request = 0; request < 500; ++request) {
    cg.clear();
    std::vector<float> x(2 * 64);
    for (float& v : x) v = draw(random);
    Expression scores = network.scores(cg, input(cg, Dim({2}, 64), x), false);
    const std::vector<float> s = as_vector(cg.forward(scores));
    inference_bytes = cg.statistics().value_bytes;
    for (std::size_t k = 0; k < 64; ++k) {
      const auto best = std::max_element(s.begin() + 3 * k, s.begin() + 3 * k + 3);
      wrong += best - (s.begin() + 3 * k) != classify(x[2 * k], x[2 * k + 1]);
    }
  }

  const float share = static_cast<float>(wrong) / (500 * 64);
  std::cout << "memory for values: " << training_bytes << " bytes in training, " << inference_bytes
            << " in inference\nwrong answers: " << 100 * share << " %\n";
  if (2 * inference_bytes > training_bytes) return 1;
  if (share < kBound) return 0;
  std::cerr << "The share is " << share << ", which should be below " << kBound << ".\n";
  return 1;
}
