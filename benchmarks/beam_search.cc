// Beam search with a transformer of 4 + 4 layers, width 256, vocabulary 8,000, and a decoder cache:
// all sentences in one batched graph, and one sentence at a time without batching. Weights and
// translations can be stored for beam_search.py, which repeats the translations with another
// library.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/measure.h"
#include "dynet-like/base/random.h"
#include "dynet-like/dynet.h"
#include "dynet-like/io/safetensors.h"

namespace {

using namespace dynet;

using Tokens = std::vector<unsigned>;
constexpr unsigned kWords = 8000, kSize = 256, kHidden = 1024, kLayers = 4, kHeads = 4, kEnd = 0;
constexpr unsigned kShortest = 5, kLongest = 40;

struct Translation {
  Tokens tokens;
  double log_prob;
};

/// Translator with random weights, which have no notion of an end: a translation has the length of
/// its source, or a given length.
class Translator {
 public:
  explicit Translator(std::size_t length) : length_(length), end_(kWords, -kInfinity) {
    model_.set_seed(1);
    end_[kEnd] = 0;
    std::vector<float> no_end(kWords);
    no_end[kEnd] = -1e3f;
    Parameter bias = output_.get_parameter_collection().parameters_list()[1];
    bias.set_value(no_end);
  }

  /// Best translations of these sentences, found in the graph, whose memory is reused.
  std::vector<Translation> translate(const std::vector<Tokens>& sentences, ComputationGraph& graph,
                                     std::size_t width) {
    graph.clear();
    graph_ = &graph;
    for (Embedding* table : {&source_, &target_}) table->new_graph(graph, false);
    encoder_.new_graph(graph, false);
    decoder_.new_graph(graph, false);
    output_.new_graph(graph, false);
    std::vector<State> starts;
    for (const Tokens& sentence : sentences) {
      const Expression memory = encoder_.apply(placed(source_.apply(sentence), 0));
      starts.push_back({decoder_.start(memory), length_ ? length_ : sentence.size()});
    }
    const auto step = [this](State& state, unsigned last) { return scores(state, last); };
    BeamSettings settings;
    settings.width = width;
    settings.begin = settings.end = kEnd;
    std::vector<Translation> best;
    for (const auto& found : beam_search(starts, step, settings))
      best.push_back({found[0].tokens, found[0].log_prob});
    return best;
  }

  const ParameterCollection& model() const { return model_; }

 private:
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();

  struct State {
    DecoderCache cache;
    std::size_t length;  // length of the translation
  };

  Expression placed(const Expression& x, unsigned first) {
    return x + sinusoidal_positions(*graph_, kSize, x.dim().cols(), first);
  }

  Expression scores(State& state, unsigned last) {
    // At the final length only the end may follow.
    if (state.cache.size() == state.length) return input(*graph_, {kWords}, end_);
    auto [y, now] = decoder_.step(state.cache, placed(target_.apply({last}), state.cache.size()));
    state.cache = std::move(now);
    return log_softmax(output_.apply(y));
  }

  ParameterCollection model_;
  Embedding source_{model_, {kWords, kSize}}, target_{model_, {kWords, kSize}};
  TransformerEncoder encoder_{
      model_, {.layers = kLayers, .size = kSize, .heads = kHeads, .hidden = kHidden}};
  TransformerDecoder decoder_{
      model_,
      {.layers = kLayers, .size = kSize, .heads = kHeads, .hidden = kHidden, .memory = kSize}};
  Linear output_{model_, {kSize, kWords}};
  ComputationGraph* graph_ = nullptr;
  std::size_t length_;      // length of translations; zero: that of the source
  std::vector<float> end_;  // log-probabilities
};

/// Stores inputs for another library, and the time of this run.
bool write_figures(const std::string& path, std::size_t length, std::size_t width,
                   const std::vector<Tokens>& sentences, const std::vector<Translation>& best,
                   double seconds) {
  nlohmann::json figures{
      {"layers", kLayers},  {"heads", kHeads},     {"epsilon", TransformerSettings().epsilon},
      {"end", kEnd},        {"length", length},    {"beam", width},
      {"seconds", seconds}, {"sources", sentences}};
  for (const Translation& found : best) {
    figures["translations"].push_back(found.tokens);
    figures["log_probs"].push_back(found.log_prob);
  }
  std::ofstream out(path);
  out << figures << '\n';
  if (!out.flush()) std::cerr << path << ": cannot be written\n";
  return !out.fail();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Beam search of a transformer, one thread");
  int rounds = 3;
  std::size_t count = 32, together = 32, width = 5, length = 0;
  bool only_together = false;
  std::string weights, json;
  app.add_option("--rounds", rounds, "The fastest of so many counts")->check(CLI::Range(1, 1000));
  app.add_option("--sentences", count, "Of 5 to 40 tokens")->check(CLI::Range(1, 10000));
  app.add_option("--together", together, "Sentences of a graph")->check(CLI::Range(1, 10000));
  app.add_option("--beam", width, "Hypotheses of a sentence")->check(CLI::Range(1, 1000));
  app.add_flag("--only-together", only_together, "Leave out one at a time, for a profile");
  app.add_option("--length", length, "Tokens of a translation; 0: as many as of its source")
      ->check(CLI::Range(0, 100));
  app.add_option("--save", weights, "Write the weights to this file, a safetensors");
  app.add_option("--json", json, "Write sentences, translations and seconds of all together");
  CLI11_PARSE(app, argc, argv);

  const RandomStream random(5);
  std::uint64_t draws = 0;
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random.bits(draws++) % n); };
  std::vector<Tokens> sentences(count);
  std::size_t words = 0;
  for (Tokens& sentence : sentences) {
    for (unsigned n = kShortest + below(kLongest - kShortest + 1); n > 0; --n)
      sentence.push_back(1 + below(kWords - 1));
    words += length ? length : sentence.size();
  }

  std::printf("calibrator %.1f GFLOP/s; %zu sentences, %zu words, beam %zu\n", bench::calibrator(),
              count, words, width);
  Translator translator(length);
  if (!weights.empty()) save_safetensors(weights, translator.model());
  std::vector<Translation> best;
  // Seconds for all sentences, with `most` sentences per graph.
  const auto time = [&](const char* name, bool batching, std::size_t most) {
    ComputationGraph graph(batching);
    const double seconds = bench::fastest(rounds, [&] {
      best.clear();
      for (std::size_t i = 0; i < count; i += most) {
        const auto begin = sentences.begin() + static_cast<std::ptrdiff_t>(i);
        const auto end = begin + static_cast<std::ptrdiff_t>(std::min(most, count - i));
        for (Translation& found : translator.translate({begin, end}, graph, width))
          best.push_back(std::move(found));
      }
    });
    std::printf("%s: %.3f s, %.0f tokens/s\n", name, seconds, static_cast<double>(words) / seconds);
    return seconds;
  };
  const double fast = time("together, batched", true, together);
  const std::vector<Translation> found = best;
  if (!json.empty() && !write_figures(json, length, width, sentences, found, fast)) return 1;
  if (only_together) return 0;
  time("one at a time, batched", true, 1);
  const double slow = time("one at a time, not batched", false, 1);
  std::size_t same = 0;
  for (std::size_t i = 0; i < count; ++i) same += found[i].tokens == best[i].tokens;
  std::printf("%.1f times as fast as without batching; %zu of %zu translations are the same\n",
              slow / fast, same, count);
}
