// Training of a transformer encoder with 4 layers, width 256 and 4 heads as a tagger, 64 sentences
// per update, in words per second.
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

namespace {

using namespace dynet;

constexpr unsigned kWords = 10000, kTags = 64, kSize = 256, kHidden = 1024, kLayers = 4, kHeads = 4;
constexpr std::size_t kTogether = 64;

/// Lengths of the first `count` sentences of a text with space-separated words; 5 to 60 words
/// without a text.
std::vector<unsigned> lengths_of(const std::string& path, std::size_t count) {
  std::vector<unsigned> lengths;
  std::ifstream text(path);
  unsigned length = 0;
  for (std::string word; lengths.size() < count && text >> word;) {
    ++length;
    if (word != ".") continue;
    if (length >= 3 && length <= 100) lengths.push_back(length);
    length = 0;
  }
  const RandomStream random(5);
  while (lengths.size() < count)
    lengths.push_back(5 + static_cast<unsigned>(random.bits(lengths.size()) % 56));
  return lengths;
}

class Tagger {
 public:
  Tagger()
      : embedding_(model_, {kWords, kSize}),
        encoder_(model_, {.layers = kLayers, .size = kSize, .heads = kHeads, .hidden = kHidden}),
        output_(model_, {kSize, kTags}),
        trainer_(model_, 1e-3f) {}

  void update(const std::vector<std::vector<unsigned>>& sentences) {
    graph_.clear();
    embedding_.new_graph(graph_);
    encoder_.new_graph(graph_);
    output_.new_graph(graph_);
    std::vector<Expression> losses;
    for (const std::vector<unsigned>& words : sentences) {
      const auto length = static_cast<unsigned>(words.size());
      const Expression x = embedding_.apply(words) + sinusoidal_positions(graph_, kSize, length);
      const Expression scores = output_.apply(encoder_.apply(x));
      std::vector<unsigned> tags;
      for (const unsigned w : words) tags.push_back(w % kTags);
      losses.push_back(sum_batches(pickneglogsoftmax(reshape(scores, Dim({kTags}, length)), tags)));
    }
    graph_.backward(sum(losses));
    trainer_.update();
  }

 private:
  ParameterCollection model_;
  Embedding embedding_;
  TransformerEncoder encoder_;
  Linear output_;
  SimpleSGDTrainer trainer_;
  ComputationGraph graph_;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Training of a transformer encoder, one thread");
  int rounds = 3;
  std::size_t updates = 4;
  std::string text, json;
  bool by_length = false;
  app.add_option("--text", text, "Whose sentences' lengths count; words separated by spaces");
  app.add_option("--updates", updates, "Of a round")->check(CLI::Range(1, 1000));
  app.add_option("--rounds", rounds, "The fastest of so many counts")->check(CLI::Range(1, 1000));
  app.add_flag("--by-length", by_length, "Sentences of similar length come together");
  app.add_option("--json", json, "Write the figures to this file, too");
  CLI11_PARSE(app, argc, argv);

  std::vector<unsigned> lengths = lengths_of(text, updates * kTogether);
  if (by_length) std::sort(lengths.begin(), lengths.end());
  const RandomStream random(7);
  std::uint64_t draws = 0;
  std::vector<std::vector<std::vector<unsigned>>> batches(updates);
  std::size_t words = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    std::vector<unsigned>& sentence = batches[i / kTogether].emplace_back();
    for (unsigned k = 0; k < lengths[i]; ++k)
      sentence.push_back(static_cast<unsigned>(random.bits(draws++) % kWords));
    words += lengths[i];
  }
  Tagger tagger;
  const double seconds = bench::fastest(rounds, [&] {
    for (const auto& batch : batches) tagger.update(batch);
  });
  const double speed = static_cast<double>(words) / seconds;
  // Matrix products only: forward once, backward twice.
  const double weights = kLayers * (4.0 * kSize * kSize + 2.0 * kSize * kHidden) + kSize * kTags;
  std::printf("%zu sentences, %zu words: %.0f words/s, %.1f GFLOP/s of products with matrices\n",
              lengths.size(), words, speed, 6e-9 * weights * speed);
  if (json.empty()) return 0;
  std::ofstream out(json);
  out << nlohmann::json{{"lengths", lengths}, {"together", kTogether}, {"words_per_second", speed}}
      << '\n';
  if (!out.flush()) {
    std::cerr << json << ": cannot be written\n";
    return 1;
  }
}
