// Connectionist temporal classification: loss and gradients of 32 utterances, in milliseconds.
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
#include "dynet-like/structures/ctc/ctc_decoding.h"

namespace {

using namespace dynet;

constexpr unsigned kUtterances = 32;

struct Task {
  std::string name;
  unsigned symbols, shortest, longest;  // labels: a third of the frames
};
const std::vector<Task> kTasks = {{"60 frames, 20 labels, 30 symbols", 30, 60, 60},
                                  {"20 to 100 frames, 30 symbols", 30, 20, 100},
                                  {"400 frames, 133 labels, 30 symbols", 30, 400, 400}};

/// Sizes of each utterance, and times in seconds.
struct Figures {
  std::vector<unsigned> frames, labels;
  double loss, with_softmax, beam;
};

Figures measure(const Task& task, int rounds) {
  const RandomStream random(7);
  Figures f;
  ParameterCollection model;
  std::vector<Parameter> scores;
  std::vector<std::vector<unsigned>> labels(kUtterances);
  for (unsigned i = 0; i < kUtterances; ++i) {
    const unsigned spread = task.longest - task.shortest + 1;
    const unsigned frames = task.shortest + static_cast<unsigned>(random.bits(i) % spread);
    f.frames.push_back(frames);
    f.labels.push_back(frames / 3);
    scores.push_back(model.add_parameters({task.symbols, frames}, ParameterInitNormal()));
    for (unsigned k = 0; k < frames / 3; ++k)
      labels[i].push_back(1 +
                          static_cast<unsigned>(random.bits(i * 1000 + k) % (task.symbols - 1)));
  }
  ComputationGraph cg;
  const auto time_loss = [&](bool softmax) {
    return bench::fastest(rounds, [&] {
      cg.clear();
      std::vector<Expression> losses;
      for (unsigned i = 0; i < kUtterances; ++i) {
        const Expression x = parameter(cg, scores[i]);
        losses.push_back(ctc_loss(softmax ? log_softmax(x) : x, labels[i]));
      }
      cg.backward(sum(losses));
    });
  };
  f.loss = time_loss(false);
  f.with_softmax = time_loss(true);
  const CtcDecoder decoder({.width = 16});
  f.beam = bench::fastest(std::max(1, rounds / 10), [&] {
    cg.clear();
    for (unsigned i = 0; i < kUtterances; ++i)
      bench::keep(decoder.best(log_softmax(const_parameter(cg, scores[i]))));
  });
  return f;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Connectionist temporal classification, 32 utterances, one thread");
  int rounds = 50;
  std::string json;
  app.add_option("--rounds", rounds, "The fastest of so many counts")->check(CLI::Range(1, 100000));
  app.add_option("--json", json, "Write the figures to this file, too");
  CLI11_PARSE(app, argc, argv);
  nlohmann::json all = nlohmann::json::array();
  std::printf("%-36s %18s %18s %14s %16s\n", "32 utterances", "loss and gradient",
              "with log_softmax", "ns a frame", "beam of 16");
  for (const Task& task : kTasks) {
    const Figures f = measure(task, rounds);
    unsigned frames = 0;
    for (const unsigned n : f.frames) frames += n;
    std::printf("%-36s %15.3f ms %15.3f ms %14.0f %13.3f ms\n", task.name.c_str(), 1e3 * f.loss,
                1e3 * f.with_softmax, 1e9 * f.loss / frames, 1e3 * f.beam);
    all.push_back({{"name", task.name},
                   {"symbols", task.symbols},
                   {"frames", f.frames},
                   {"labels", f.labels},
                   {"loss", f.loss},
                   {"with_softmax", f.with_softmax}});
  }
  if (json.empty()) return 0;
  std::ofstream out(json);
  out << all.dump(2) << '\n';
  if (!out.flush()) {
    std::cerr << json << ": cannot be written\n";
    return 1;
  }
}
