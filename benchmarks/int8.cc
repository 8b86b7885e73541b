// An LSTM over a sequence and an encoder layer, in float and in 8 bits, on one thread. JSON: the
// milliseconds of one pass, the fastest of all rounds; benchmarks/int8.py runs ONNX Runtime in
// turns with this.

#include "dynet-like/io/int8.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "benchmarks/measure.h"
#include "dynet-like/dynet.h"
#include "dynet-like/io/save.h"

namespace {

using namespace dynet;

constexpr unsigned kSize = 512, kSteps = 50, kHeads = 8, kHidden = 2048;

struct Lstm {
  ParameterCollection pc;
  VanillaLSTMBuilder network{1, kSize, kSize, pc};

  void run(ComputationGraph& g, const std::vector<float>& x) {
    network.new_graph(g);
    network.start_new_sequence();
    const Expression all = input(g, Dim({kSize}, kSteps), x);
    for (unsigned t = 0; t < kSteps; ++t) network.add_input(pick_batch_elem(all, t));
    g.forward(network.back());
  }
};

struct Encoder {
  ParameterCollection pc;
  TransformerEncoder layers{pc, {.layers = 1, .size = kSize, .heads = kHeads, .hidden = kHidden}};

  void run(ComputationGraph& g, const std::vector<float>& x) {
    layers.new_graph(g, false);
    g.forward(layers.apply(input(g, Dim({kSize, kSteps}), x)));
  }
};

/// Milliseconds in float and in 8 bits.
template <class Net>
nlohmann::json measure(const std::string& folder, int rounds) {
  const std::string path = folder + "/bench-int8.model", small = path + ".int8";
  Net whole, rounded;
  save(path, whole.pc);
  write_int8_copy(path, small);
  load(small, rounded.pc);
  std::filesystem::remove(path);
  std::filesystem::remove(small);
  std::vector<float> x(kSize * kSteps);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  ComputationGraph g;
  g.set_inference(true);
  double best[2] = {1e9, 1e9};
  for (int round = 0; round < rounds; ++round)
    for (Net* net : {&whole, &rounded}) {
      const double begin = bench::now();
      for (int i = 0; i < 5; ++i) {
        g.clear();
        net->run(g, x);
      }
      double& least = best[net == &rounded];
      least = std::min(least, 1000 * (bench::now() - begin) / 5);
    }
  return {{"float", best[0]}, {"int8", best[1]}};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("An LSTM and an encoder layer in float and in 8 bits.");
  int rounds = 20;
  std::string json;
  app.add_option("--rounds", rounds, "of which the fastest counts")->capture_default_str();
  app.add_option("--json", json, "file for the figures");
  CLI11_PARSE(app, argc, argv);
  const std::string folder = std::filesystem::temp_directory_path();
  const nlohmann::json figures = {{"isa", isa_name()},
                                  {"lstm", measure<Lstm>(folder, rounds)},
                                  {"encoder", measure<Encoder>(folder, rounds)}};
  if (!json.empty()) std::ofstream(json) << figures << '\n';
  for (const char* name : {"lstm", "encoder"}) {
    const double whole = figures[name]["float"], rounded = figures[name]["int8"];
    std::printf("%-8s float %7.3f ms, int8 %7.3f ms: %.2f times as fast\n", name, whole, rounded,
                whole / rounded);
  }
}
