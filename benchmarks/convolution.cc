// Two-dimensional convolution and pooling, forward and backward, in GFLOP/s and as part of the
// calibrator's.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "benchmarks/measure.h"
#include "dynet-like/dynet.h"

namespace {

struct Layer {
  unsigned side, in, out, window, stride, batch;

  std::string name() const {
    return std::to_string(side) + "x" + std::to_string(side) + "x" + std::to_string(in) + " to " +
           std::to_string(out) + ", " + std::to_string(window) + "x" + std::to_string(window) +
           (stride > 1 ? " by " + std::to_string(stride) : "") + ", batch " + std::to_string(batch);
  }
  unsigned places() const { return (side + stride - 1) / stride; }
  double gflop() const { return 2e-9 * batch * places() * places() * in * window * window * out; }
};

const std::vector<Layer> kLayers = {
    {28, 1, 32, 5, 1, 64},   {28, 32, 64, 5, 1, 16},  {56, 64, 64, 3, 1, 4},
    {28, 128, 128, 3, 1, 4}, {14, 256, 256, 3, 1, 4}, {28, 128, 128, 1, 1, 4},
    {56, 64, 128, 3, 2, 4},  {64, 16, 16, 3, 1, 16},
};

/// Seconds of the forward and of the backward pass.
struct Times {
  double forward, backward;
};

template <class Build>
Times measure(const Layer& l, int rounds, Build build) {
  dynet::ParameterCollection model;
  dynet::Parameter image = model.add_parameters({l.side * l.side * l.in * l.batch});
  dynet::Parameter filter = model.add_parameters({l.window, l.window, l.in, l.out});
  dynet::ComputationGraph g;
  const dynet::Expression x =
      reshape(parameter(g, image), dynet::Dim({l.side, l.side, l.in}, l.batch));
  const dynet::Expression loss = sum_batches(sum_elems(build(x, parameter(g, filter))));
  const double forward = bench::fastest(rounds, [&] { g.forward(loss); });
  const double both = bench::fastest(rounds, [&] {
    g.forward(loss);
    g.backward(loss);
  });
  return {forward, both - forward};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Speed of convolution and pooling.");
  int rounds = 20;
  app.add_option("--rounds", rounds, "of which the fastest counts")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    const double calibrator = bench::calibrator();
    std::printf("calibrator %.1f GFLOP/s\n%-38s %18s %18s\n", calibrator, "conv2d, SAME", "forward",
                "backward");
    for (const Layer& l : kLayers) {
      const Times t = measure(l, rounds, [&](const auto& x, const auto& f) {
        return conv2d(x, f, {l.stride, l.stride}, false);
      });
      const double forward = l.gflop() / t.forward, backward = 2 * l.gflop() / t.backward;
      std::printf("%-38s %7.1f = %6.1f %% %7.1f = %6.1f %%\n", l.name().c_str(), forward,
                  100 * forward / calibrator, backward, 100 * backward / calibrator);
      std::fflush(stdout);
    }
    std::printf("%-38s %18s %18s\n", "maxpooling2d 2x2 by 2", "forward, ns/input", "backward");
    for (const Layer& l : kLayers) {
      const Times t = measure(l, rounds, [&](const auto& x, const auto&) {
        return maxpooling2d(x, {2, 2}, {2, 2});
      });
      const double elements = 1e-9 * l.side * l.side * l.in * l.batch;
      std::printf("%-38s %18.2f %18.2f\n", l.name().c_str(), t.forward / elements,
                  t.backward / elements);
    }
  } catch (const std::exception& e) {
    std::cerr << "bench-convolution: " << e.what() << "\n";
    return 1;
  }
}
