// Profiling: why it is slow, why it does not learn.
//
//     19_profiling              prints two profiles
//     19_profiling graph.svg    draws a graph, too
//
// Nodes that do the same run as one batch. A habit prevents it without a sign but the time: to read
// a value, such as a loss, before the other samples are built, which computes what is there. A
// profile names it, with the line, see docs/profiling.md.
//
// A network that does not learn shows it in its gradients: zero, or much smaller in one layer than
// in the next. TensorBoard draws their histograms; here a few norms are printed.
#include <cmath>
#include <iostream>
#include <vector>

#include "dynet-like/dynet.h"
#include "dynet-like/profile/picture.h"
#include "dynet-like/profile/profiler.h"

using namespace dynet;

namespace {

constexpr unsigned kWords = 20, kSamples = 16;
constexpr float kBound = 0.1f;

struct Network {
  ParameterCollection model;
  LookupParameter embeddings = model.add_lookup_parameters(kWords, {16}, "embeddings");
  VanillaLSTMBuilder lstm{1, 16, 32, model};
  Parameter W = model.add_parameters({2, 32}, "W");

  // Whether the first word of a sentence is an even number.
  Expression loss(ComputationGraph& cg, const Expression& w, unsigned sample) {
    lstm.start_new_sequence();
    for (unsigned t = 0; t < 3 + sample % 5; ++t)
      lstm.add_input(lookup(cg, embeddings, (7 * sample + 3 * t) % kWords));
    return pickneglogsoftmax(w * lstm.back(), sample % 2);
  }
};

double norm(const Tensor& gradients) {
  double squares = 0;
  for (const float x : as_vector(gradients)) squares += double(x) * double(x);
  return std::sqrt(squares);
}

// Mean loss of the last update. `reads`: each loss is read at once.
float train(Network& net, bool reads, Profiler& profiler, const char* picture) {
  constexpr unsigned updates = 60;
  AdamTrainer trainer(net.model, 0.01f);
  float mean = 0;
  for (unsigned k = 0; k < updates; ++k) {
    ComputationGraph cg;
    profiler.watch(cg);
    net.lstm.new_graph(cg);
    const Expression w = parameter(cg, net.W);
    std::vector<Expression> losses;
    for (unsigned sample = 0; sample < kSamples; ++sample) {
      losses.push_back(net.loss(cg, w, sample));
      if (reads) mean += as_scalar(losses.back().value());
    }
    const Expression loss = sum(losses) / kSamples;
    mean = as_scalar(loss.value());
    cg.backward(loss);
    if (k == 0)
      for (const Parameter& p : net.model.parameters_list())
        std::cout << "  gradient of " << p.get_fullname() << ": " << norm(p.gradients()) << '\n';
    trainer.update();
    profiler.step();
    if (k == 0 && picture) write_svg(cg, picture);
  }
  return mean;
}

}  // namespace

int main(int argc, char** argv) {
  for (const bool reads : {true, false}) {
    std::cout << (reads ? "each loss is read at once:\n" : "losses are read at the end:\n");
    Network net;
    net.model.set_seed(1);
    Profiler profiler({.skip = 5, .record = 20});
    const float loss = train(net, reads, profiler, reads || argc < 2 ? nullptr : argv[1]);
    profiler.stop();
    std::cout << profiler.table() << "loss: " << loss << "\n\n";
    if (!reads && !(loss < kBound)) return 1;
  }
}
