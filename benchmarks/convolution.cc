// Two-dimensional convolution and pooling, forward and backward, in GFLOP/s and relative to the
// calibrator.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
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
    {56, 64, 128, 3, 2, 4},  {64, 16, 16, 3, 1, 16},  {14, 16, 16, 3, 1, 64},
    {14, 32, 32, 3, 1, 64},  {7, 32, 32, 3, 1, 64},   {7, 64, 64, 3, 1, 64},
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

/// Figures of one layer.
nlohmann::json figures(const Layer& l, const Times& conv, const Times& pool) {
  return {{"name", l.name()},
          {"side", l.side},
          {"in", l.in},
          {"out", l.out},
          {"window", l.window},
          {"stride", l.stride},
          {"batch", l.batch},
          {"conv2d", {{"forward", conv.forward}, {"backward", conv.backward}}},
          {"maxpooling2d", {{"forward", pool.forward}, {"backward", pool.backward}}}};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Speed of convolution and pooling.");
  int rounds = 20;
  std::string json;
  app.add_option("--rounds", rounds, "of which the fastest counts")->capture_default_str();
  app.add_option("--json", json, "write the seconds to this file");
  CLI11_PARSE(app, argc, argv);
  try {
    const double calibrator = bench::calibrator();
    std::printf("calibrator %.1f GFLOP/s\n%-38s %18s %18s %22s\n", calibrator, "conv2d, SAME",
                "forward", "backward", "pooling 2x2, ns/input");
    nlohmann::json all = nlohmann::json::array();
    for (const Layer& l : kLayers) {
      const Times conv = measure(l, rounds, [&](const auto& x, const auto& f) {
        return conv2d(x, f, {l.stride, l.stride}, false);
      });
      const Times pool = measure(l, rounds, [&](const auto& x, const auto&) {
        return maxpooling2d(x, {2, 2}, {2, 2});
      });
      const double forward = l.gflop() / conv.forward, backward = 2 * l.gflop() / conv.backward;
      const double elements = 1e-9 * l.side * l.side * l.in * l.batch;
      std::printf("%-38s %7.1f = %6.1f %% %7.1f = %6.1f %% %11.2f %10.2f\n", l.name().c_str(),
                  forward, 100 * forward / calibrator, backward, 100 * backward / calibrator,
                  pool.forward / elements, pool.backward / elements);
      std::fflush(stdout);
      all.push_back(figures(l, conv, pool));
    }
    if (!json.empty()) {
      std::ofstream file(json);
      file << all << "\n";
      if (!file.flush()) throw std::runtime_error("cannot write " + json);
    }
  } catch (const std::exception& e) {
    std::cerr << "bench-convolution: " << e.what() << "\n";
    return 1;
  }
}
