// Span trees: log partition and gradients of 32 sentences, and the best trees, in milliseconds.
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

constexpr unsigned kSentences = 32;

struct Task {
  std::string name;
  unsigned shortest, longest, labels;
};
const std::vector<Task> kTasks = {{"30 words", 30, 30, 1},
                                  {"10 to 50 words", 10, 50, 1},
                                  {"30 words, 20 labels", 30, 30, 20},
                                  {"100 words", 100, 100, 1}};

/// Lengths, and times in seconds.
struct Figures {
  std::vector<unsigned> lengths;
  double gradients, best;
};

Figures measure(const Task& task, int rounds) {
  const RandomStream random(7);
  Figures f;
  ParameterCollection model;
  std::vector<Parameter> scores;
  for (unsigned i = 0; i < kSentences; ++i) {
    const unsigned spread = task.longest - task.shortest + 1;
    const unsigned n = task.shortest + static_cast<unsigned>(random.bits(i) % spread);
    f.lengths.push_back(n);
    scores.push_back(model.add_parameters({n, n, task.labels}, ParameterInitNormal()));
  }
  ComputationGraph cg;
  f.gradients = bench::fastest(rounds, [&] {
    cg.clear();
    std::vector<Expression> sums;
    for (const Parameter& p : scores) sums.push_back(span_log_partition(parameter(cg, p)));
    cg.backward(sum(sums));
  });
  f.best = bench::fastest(rounds, [&] {
    cg.clear();
    for (const Parameter& p : scores)
      bench::keep(best_span_tree(span_scores(const_parameter(cg, p))));
  });
  return f;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Span trees, 32 sentences, one thread");
  int rounds = 50;
  std::string json;
  app.add_option("--rounds", rounds, "The fastest of so many counts")->check(CLI::Range(1, 100000));
  app.add_option("--json", json, "Write the figures to this file, too");
  CLI11_PARSE(app, argc, argv);
  nlohmann::json all = nlohmann::json::array();
  std::printf("%-26s %28s %12s\n", "32 sentences", "log partition and gradients", "best trees");
  for (const Task& task : kTasks) {
    const Figures f = measure(task, rounds);
    std::printf("%-26s %25.3f ms %9.3f ms\n", task.name.c_str(), 1e3 * f.gradients, 1e3 * f.best);
    all.push_back({{"name", task.name},
                   {"labels", task.labels},
                   {"lengths", f.lengths},
                   {"gradients", f.gradients},
                   {"best", f.best}});
  }
  if (json.empty()) return 0;
  std::ofstream out(json);
  out << all.dump(2) << '\n';
  if (!out.flush()) {
    std::cerr << json << ": cannot be written\n";
    return 1;
  }
}
