// A linear-chain CRF: loss and gradients of 32 sentences, and the best tags, in milliseconds.
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
  unsigned tags, shortest, longest;
};
const std::vector<Task> kTasks = {{"30 words, 20 tags", 20, 30, 30},
                                  {"10 to 50 words, 20 tags", 20, 10, 50},
                                  {"30 words, 72 tags", 72, 30, 30},
                                  {"30 words, 150 tags", 150, 30, 30}};

/// Lengths, and times in seconds.
struct Figures {
  std::vector<unsigned> lengths;
  double loss, best;
};

Figures measure(const Task& task, int rounds) {
  const RandomStream random(7);
  Figures f;
  ParameterCollection model;
  ChainCrf crf(model, task.tags);
  std::vector<Parameter> scores;
  std::vector<std::vector<unsigned>> tags;
  for (unsigned i = 0; i < kSentences; ++i) {
    const unsigned spread = task.longest - task.shortest + 1;
    f.lengths.push_back(task.shortest + static_cast<unsigned>(random.bits(i) % spread));
    scores.push_back(model.add_parameters({task.tags, f.lengths.back()}, ParameterInitNormal()));
    tags.emplace_back();
    for (unsigned t = 0; t < f.lengths.back(); ++t)
      tags.back().push_back(static_cast<unsigned>(random.bits(i * 1000 + t) % task.tags));
  }
  ComputationGraph cg;
  f.loss = bench::fastest(rounds, [&] {
    cg.clear();
    crf.new_graph(cg);
    std::vector<Expression> losses;
    for (unsigned i = 0; i < kSentences; ++i)
      losses.push_back(-crf.log_prob(parameter(cg, scores[i]), tags[i]));
    cg.backward(sum(losses));
  });
  f.best = bench::fastest(rounds, [&] {
    cg.clear();
    crf.new_graph(cg, false);
    for (unsigned i = 0; i < kSentences; ++i) bench::keep(crf.best(const_parameter(cg, scores[i])));
  });
  return f;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Linear-chain CRFs, 32 sentences, one thread");
  int rounds = 50;
  std::string json;
  app.add_option("--rounds", rounds, "The fastest of so many counts")->check(CLI::Range(1, 100000));
  app.add_option("--json", json, "Write the figures to this file, too");
  CLI11_PARSE(app, argc, argv);
  nlohmann::json all = nlohmann::json::array();
  std::printf("%-26s %18s %14s %12s\n", "32 sentences", "loss and gradient", "ns a word",
              "best tags");
  for (const Task& task : kTasks) {
    const Figures f = measure(task, rounds);
    unsigned words = 0;
    for (const unsigned n : f.lengths) words += n;
    std::printf("%-26s %15.3f ms %14.0f %9.3f ms\n", task.name.c_str(), 1e3 * f.loss,
                1e9 * f.loss / words, 1e3 * f.best);
    all.push_back({{"name", task.name},
                   {"tags", task.tags},
                   {"lengths", f.lengths},
                   {"loss", f.loss},
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
