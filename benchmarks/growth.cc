// Time and memory per node in graphs of 10,000 to millions of nodes: in a chain, among independent
// products, and in sequences.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "benchmarks/measure.h"
#include "benchmarks/memory.h"
#include "dynet-like/dynet.h"

namespace {

using namespace dynet;

constexpr unsigned kSize = 4, kSteps = 100;

struct Model {
  ParameterCollection pc;
  Parameter w = pc.add_parameters({kSize, kSize}), u = pc.add_parameters({kSize, kSize}),
            b = pc.add_parameters({kSize});
  LookupParameter table = pc.add_lookup_parameters(1000, {kSize});
};

struct Case {
  std::string name;
  /// Builds about n nodes and returns the loss.
  std::function<Expression(ComputationGraph&, const Model&, std::size_t n)> build;
};

std::vector<Case> cases() {
  return {
      {"a chain of tanh",
       [](ComputationGraph& g, const Model& m, std::size_t n) {
         Expression y = parameter(g, m.b);
         for (std::size_t i = 0; i < n; ++i) y = tanh(y);
         return sum_elems(y);
       }},
      {"independent products",  // a row, its product, and the product's sum
       [](ComputationGraph& g, const Model& m, std::size_t n) {
         const Expression w = parameter(g, m.w);
         std::vector<Expression> losses;
         for (std::size_t i = 0; i < n / 3; ++i)
           losses.push_back(sum_elems(w * lookup(g, m.table, static_cast<unsigned>(i % 1000))));
         return sum(losses);
       }},
      {"sequences of 100 steps",  // a row, a sum of two products, tanh
       [](ComputationGraph& g, const Model& m, std::size_t n) {
         const Expression w = parameter(g, m.w), u = parameter(g, m.u), b = parameter(g, m.b);
         std::vector<Expression> ends;
         for (std::size_t s = 0; s < n / (3 * kSteps); ++s) {
           Expression h = b;
           for (std::size_t t = 0; t < kSteps; ++t) {
             const auto word = static_cast<unsigned>((7 * s + t) % 1000);
             h = tanh(affine_transform({b, w, lookup(g, m.table, word), u, h}));
           }
           ends.push_back(h);
         }
         return sum_elems(sum(ends));
       }},
  };
}

struct Cost {
  std::size_t nodes = 0;
  double build = 1e9, forward = 1e9, backward = 1e9, mebibytes = 0;
};

/// Cost of the fastest of several graphs, each of which reuses the memory of the previous one. Each
/// is one node longer, so that small graphs also need new plans.
Cost measure(const Case& c, std::size_t n, int rounds) {
  release_graph_memory();
  const double before = bench::resident();
  Model m;
  Cost cost;
  ComputationGraph g;
  for (int r = 0; r < rounds; ++r) {
    g.clear();
    Expression loss;
    cost.build = std::min(cost.build, bench::fastest(1, [&] { loss = c.build(g, m, n); }));
    for (int k = 0; k < r; ++k) loss = tanh(loss);
    cost.forward = std::min(cost.forward, bench::fastest(1, [&] { bench::keep(loss.value()); }));
    cost.backward = std::min(cost.backward, bench::fastest(1, [&] { g.backward(loss); }));
    m.pc.reset_gradient();
  }
  cost.nodes = g.size();
  cost.mebibytes = bench::resident() - before;
  return cost;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("What a node costs in small and in large graphs.");
  std::vector<std::size_t> sizes = {10'000, 100'000, 1'000'000, 4'000'000};
  int rounds = 3;
  app.add_option("--nodes", sizes, "how many nodes a graph has");
  app.add_option("--rounds", rounds, "graphs of a million nodes; smaller ones are more")
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  std::printf("calibrator %.1f GFLOP/s; ns a node\n", bench::calibrator());
  for (const Case& c : cases()) {
    std::printf("%-24s     nodes   build forward backward   ratios to the first   bytes a node\n",
                c.name.c_str());
    Cost first;
    for (const std::size_t n : sizes) {
      const int times = rounds * static_cast<int>(std::clamp<std::size_t>(1'000'000 / n, 1, 20));
      const Cost cost = measure(c, n, times);
      if (first.nodes == 0) first = cost;
      const auto each = [&](double seconds) {
        return 1e9 * seconds / static_cast<double>(cost.nodes);
      };
      const auto ratio = [&](double seconds, double then) {
        return seconds / static_cast<double>(cost.nodes) * static_cast<double>(first.nodes) / then;
      };
      std::printf("%-24s %9zu %7.1f %7.1f %8.1f %10.2f %6.2f %17.0f\n", "", cost.nodes,
                  each(cost.build), each(cost.forward), each(cost.backward),
                  ratio(cost.forward, first.forward), ratio(cost.backward, first.backward),
                  cost.mebibytes * (1 << 20) / static_cast<double>(cost.nodes));
      std::fflush(stdout);
    }
  }
  return 0;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
