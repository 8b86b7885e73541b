// Speed of every operation, with the test cases and large operands.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "benchmarks/measure.h"
#include "dynet-like/run/executor.h"
#include "tests/ops/cases.h"
#include "tests/support/catch.h"
#include "tests/support/run_cases.h"

using namespace dynet;
using namespace dynet::test;

namespace {

struct Options {
  std::string only, json;
  int rounds = 20;
} options;

/// Elements and times of the nodes of one case.
struct Speed {
  std::size_t elements = 0;          // total of all results
  double forward = 0, backward = 0;  // in seconds
};

// Forward excludes the operands; backward includes the nodes that reduce the results to a loss,
// identical in all cases.
Speed measure(const Nodes& made) {
  const GraphStore& graph = made.graph.store();
  Executor<float> executor(graph, PlanPolicy::in_batches);
  NodeId first = made.results[0].i, last = 0;
  Speed speed;
  for (const Expression& y : made.results) {
    first = std::min(first, y.i);
    last = std::max(last, y.i);
    speed.elements += graph.nodes[y.i].dim.size();
  }
  speed.forward = speed.backward = 1e9;
  for (int round = 0; round < options.rounds; ++round) {
    executor.invalidate();
    if (first > 0) executor.forward(first - 1);

    speed.forward = std::min(speed.forward, bench::fastest(1, [&] { executor.forward(last); }));
    executor.forward(made.loss.i);
    speed.backward =
        std::min(speed.backward, bench::fastest(1, [&] { executor.backward(made.loss.i); }));
  }
  return speed;
}

}  // namespace

TEST_CASE("speed", "[.][speed]") {
  std::printf("%-44s %10s %14s %14s\n", "ns an element of the results", "elements", "forward",
              "backward");
  nlohmann::json figures;
  for (const OpCase& c : all_cases()) {
    if (c.name.find(options.only) == std::string::npos) continue;
    for_nodes(c, Draw::large, 1, [&](const Nodes& made) {
      const Speed s = measure(made);
      const double n = static_cast<double>(s.elements);
      std::printf("%-44s %10zu %14.3f %14.3f\n", c.name.c_str(), s.elements, 1e9 * s.forward / n,
                  1e9 * s.backward / n);
      std::fflush(stdout);
      figures[c.name] = {{"forward_ns", 1e9 * s.forward / n},
                         {"backward_ns", 1e9 * s.backward / n}};
    });
  }
  if (!options.json.empty()) std::ofstream(options.json) << figures.dump(1) << '\n';
}

int main(int argc, char** argv) {
  CLI::App app(
      "Times every operation, forward and backward, on the cases that test it, with large "
      "operands. "
      "Compare two runs with bench-compare.");
  app.add_option("--only", options.only, "cases whose names hold this");
  app.add_option("--rounds", options.rounds, "of each case; the fastest counts")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--json", options.json, "write the figures to this file");
  CLI11_PARSE(app, argc, argv);
  return run_cases(argv[0], "[speed]") == 0 ? 0 : 1;
}
