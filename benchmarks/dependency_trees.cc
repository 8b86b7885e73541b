// Dependency trees: log-partition and gradients of 32 sentences, and the best trees.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "benchmarks/measure.h"
#include "dynet-like/dynet.h"

namespace {

using namespace dynet;

constexpr unsigned kSentences = 32;

struct Task {
  std::string name;
  unsigned words;
  DependencyRules rules;
};
const std::vector<Task> kTasks = {{"Eisner, 30 words", 30, {true, true}},
                                  {"matrix-tree, 30 words", 30, {false, true}},
                                  {"Eisner, 60 words", 60, {true, true}},
                                  {"matrix-tree, 60 words", 60, {false, true}}};

/// Times in seconds.
struct Figures {
  double loss, entropy, best, sample;
};

Figures measure(const Task& task, int rounds) {
  Figures f;
  ParameterCollection model;
  std::vector<Parameter> arcs;
  std::vector<ArcScores> scores;
  const unsigned nodes = task.words + 1;
  for (unsigned i = 0; i < kSentences; ++i) {
    arcs.push_back(model.add_parameters({nodes, nodes}, ParameterInitNormal(0, 4)));
    scores.push_back({task.words, as_vector(*arcs.back().values())});
  }
  ComputationGraph cg;
  const auto gradients = [&](Expression (*of)(const Expression&, DependencyRules, SourceLocation)) {
    return bench::fastest(rounds, [&] {
      cg.clear();
      std::vector<Expression> all;
      for (const Parameter& p : arcs)
        all.push_back(of(parameter(cg, p), task.rules, SourceLocation::current()));
      cg.backward(sum(all));
    });
  };
  f.loss = gradients(dependency_log_partition);
  f.entropy = gradients(dependency_entropy);
  f.best = bench::fastest(rounds, [&] {
    for (const ArcScores& s : scores) bench::keep(best_tree(s, task.rules));
  });
  f.sample = bench::fastest(std::min(rounds, 5), [&] {
    for (const ArcScores& s : scores) bench::keep(sample_tree(s, 1, task.rules));
  });
  return f;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Dependency trees, 32 sentences, one thread");
  int rounds = 50;
  std::string json;
  app.add_option("--rounds", rounds, "The fastest of so many counts")->check(CLI::Range(1, 100000));
  app.add_option("--json", json, "Write the figures to this file, too");
  CLI11_PARSE(app, argc, argv);
  nlohmann::json all = nlohmann::json::array();
  std::printf("%-24s %18s %16s %12s %16s %12s\n", "32 sentences", "log Z and gradient",
              "entropy, same", "best trees", "best, a second", "samples");
  for (const Task& task : kTasks) {
    const Figures f = measure(task, rounds);
    std::printf("%-24s %15.3f ms %13.3f ms %9.3f ms %16.0f %9.3f ms\n", task.name.c_str(),
                1e3 * f.loss, 1e3 * f.entropy, 1e3 * f.best, kSentences / f.best, 1e3 * f.sample);
    all.push_back({{"name", task.name},
                   {"words", task.words},
                   {"projective", task.rules.projective},
                   {"sentences", kSentences},
                   {"loss", f.loss},
                   {"entropy", f.entropy},
                   {"best", f.best},
                   {"sample", f.sample}});
  }
  if (json.empty()) return 0;
  std::ofstream out(json);
  out << all.dump(2) << '\n';
  if (!out.flush()) {
    std::cerr << json << ": cannot be written\n";
    return 1;
  }
}
