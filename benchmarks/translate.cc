// Training of the translator's LSTMs with attention on pairs of a word and its sounds, 64 per
// update, in sounds per second.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "benchmarks/measure.h"
#include "dynet-like/base/random.h"
#include "dynet-like/dynet.h"
#include "examples/nlp/common/characters.h"
#include "examples/nlp/common/text.h"
#include "examples/nlp/translate/network.h"

namespace {

using translate::Ids;

constexpr unsigned kLetters = 40, kSounds = 70;  // typical vocabulary sizes of a language
constexpr std::size_t kTogether = 64;

struct Pair {
  Ids letters, sounds;
};

/// Pairs of random tokens with the lengths of those in a file of lines `word, tab, sounds`; 3 to 15
/// letters and equally many sounds without a file.
std::vector<Pair> pairs(const std::string& path, std::size_t count) {
  std::vector<std::pair<std::size_t, std::size_t>> lengths;
  std::ifstream file(path);
  for (std::string line; lengths.size() < count && std::getline(file, line);) {
    const std::vector<std::string> fields = nlp::split_fields(line, '\t');
    if (fields.size() == 2)
      lengths.push_back({nlp::characters_of(fields[0]).size(), nlp::split_words(fields[1]).size()});
  }
  const dynet::RandomStream random(5);
  std::uint64_t draws = 0;
  while (lengths.size() < count) {
    const auto length = static_cast<std::size_t>(3 + random.bits(draws++) % 13);
    lengths.push_back({length, length});
  }
  const auto tokens = [&](std::size_t length, unsigned different) {
    Ids ids;
    for (std::size_t i = 0; i < length; ++i)
      ids.push_back(2 + static_cast<unsigned>(random.bits(draws++) % (different - 2)));
    return ids;
  };
  std::vector<Pair> all;
  for (const auto& [letters, sounds] : lengths)
    all.push_back({tokens(letters, kLetters), tokens(sounds, kSounds)});
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Training of LSTMs with attention, one thread");
  int rounds = 3;
  std::size_t updates = 8;
  translate::NetworkSettings settings;
  settings.size = 256;
  settings.dropout = 0;
  std::string text, json;
  app.add_option("--pairs", text, "Whose lengths count: a word, a tab and its sounds in each line");
  app.add_option("--updates", updates, "Of a round")->check(CLI::Range(1, 1000));
  app.add_option("--rounds", rounds, "The fastest of so many counts")->check(CLI::Range(1, 1000));
  app.add_option("--size", settings.size, "Of vectors and states")->check(CLI::Range(2, 4096));
  app.add_option("--json", json, "Write the figures to this file, too");
  CLI11_PARSE(app, argc, argv);

  const std::vector<Pair> all = pairs(text, updates * kTogether);
  std::size_t sounds = 0;
  nlohmann::json lengths = nlohmann::json::array();
  for (const Pair& pair : all) {
    sounds += pair.sounds.size() + 1;
    lengths.push_back({pair.letters.size(), pair.sounds.size()});
  }
  dynet::ParameterCollection model;
  translate::LstmNetwork network(settings, kLetters, kSounds, model);
  dynet::AdamTrainer trainer(model);
  dynet::ComputationGraph graph;
  const double seconds = bench::fastest(rounds, [&] {
    for (std::size_t first = 0; first < all.size(); first += kTogether) {
      graph.clear();
      network.begin_graph(graph, true);
      std::vector<dynet::Expression> losses;
      for (std::size_t i = first; i < first + kTogether; ++i)
        losses.push_back(network.loss({all[i].letters, {}}, all[i].sounds, 0,
                                      translate::beginnings(all[i].sounds)));
      graph.backward(dynet::sum(losses) / static_cast<float>(kTogether));
      trainer.update();
    }
  });
  const double speed = static_cast<double>(sounds) / seconds;
  std::printf("%zu pairs, %zu sounds with ends: %.0f sounds/s\n", all.size(), sounds, speed);
  if (json.empty()) return 0;
  std::ofstream out(json);
  out << nlohmann::json{{"lengths", lengths},
                        {"together", kTogether},
                        {"size", settings.size},
                        {"sounds_per_second", speed}}
      << '\n';
  if (!out.flush()) {
    std::cerr << json << ": cannot be written\n";
    return 1;
  }
}
