// Training of a network of ten convolutions with residual blocks, as in examples/vision/digits, on
// ten classes of 28x28 pictures, 64 pictures per update, in pictures per second.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "benchmarks/measure.h"
#include "dynet-like/base/random.h"
#include "dynet-like/dynet.h"

namespace {

using namespace dynet;

constexpr unsigned kSide = 28, kLabels = 10, kTogether = 64;

class Network {
 public:
  explicit Network(unsigned channels)
      : first_(model_.add_parameters({3, 3, 1, channels})),
        wider_(model_.add_parameters({3, 3, channels, 2 * channels})),
        first_norm_(model_, {channels}),
        wider_norm_(model_, {2 * channels}),
        output_(model_, {4 * channels, kLabels}),
        trainer_(model_, 1e-3f) {
    for (const unsigned k : {1u, 1u, 2u, 2u})
      blocks_.emplace_back(model_, ResidualConvolution::Settings{k * channels});
  }

  void update(const std::vector<float>& pixels, const std::vector<unsigned>& labels) {
    graph_.clear();
    first_norm_.new_graph(graph_);
    wider_norm_.new_graph(graph_);
    output_.new_graph(graph_);
    for (ResidualConvolution& block : blocks_) block.new_graph(graph_);
    Expression x = input(graph_, Dim({kSide, kSide, 1}, kTogether), pixels);
    x = rectify(first_norm_.apply(conv2d(x, parameter(graph_, first_), {1, 1}, false)));
    x = maxpooling2d(x, {2, 2}, {2, 2}, false);
    for (unsigned k = 0; k < blocks_.size(); ++k) {
      if (k == 2)
        x = rectify(wider_norm_.apply(conv2d(x, parameter(graph_, wider_), {2, 2}, false)));
      x = blocks_[k].apply(x);
    }
    x = reshape(x, Dim({x.dim()[0] * x.dim()[1], x.dim()[2]}, kTogether));
    const Expression scores = output_.apply(concatenate({mean_dim(x, {0}), max_dim(x, 0)}));
    graph_.backward(mean_batches(pickneglogsoftmax(scores, labels)));
    trainer_.update();
  }

 private:
  ParameterCollection model_;
  Parameter first_, wider_;
  ImageNorm first_norm_, wider_norm_;
  std::vector<ResidualConvolution> blocks_;
  Linear output_;
  SimpleSGDTrainer trainer_;
  ComputationGraph graph_;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Training of ten convolutions, one thread");
  int rounds = 5;
  unsigned updates = 3, channels = 24;
  std::string json;
  app.add_option("--channels", channels, "Of the first half")->check(CLI::Range(1, 1024));
  app.add_option("--updates", updates, "Of a round")->check(CLI::Range(1, 1000));
  app.add_option("--rounds", rounds, "The fastest of so many counts")->check(CLI::Range(1, 1000));
  app.add_option("--json", json, "Write the figures to this file, too");
  CLI11_PARSE(app, argc, argv);

  const RandomStream random(7);
  std::vector<float> pixels(kTogether * kSide * kSide);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(random.normal(i));
  std::vector<unsigned> labels(kTogether);
  for (unsigned i = 0; i < kTogether; ++i) labels[i] = i % kLabels;
  Network network(channels);
  const double seconds = bench::fastest(rounds, [&] {
    for (unsigned i = 0; i < updates; ++i) network.update(pixels, labels);
  });
  const double speed = static_cast<double>(updates * kTogether) / seconds;
  std::printf("%u channels: %.0f pictures/s\n", channels, speed);
  if (json.empty()) return 0;
  std::ofstream out(json);
  out << nlohmann::json{{"channels", channels}, {"pictures_per_second", speed}} << '\n';
  if (!out.flush()) {
    std::cerr << json << ": cannot be written\n";
    return 1;
  }
}
