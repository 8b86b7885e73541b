// Random data with the statistics of the files: lengths follow a gamma distribution with the files'
// mean and deviation, words follow Zipf's law, trees split at an end equally often.
#include <algorithm>
#include <cmath>
#include <random>

#include "benchmarks/training/data.h"

namespace bench {
namespace {

class Generator {
 public:
  unsigned length(double mean, double deviation, unsigned least, unsigned most) {
    const double scale = deviation * deviation / mean;
    std::gamma_distribution<double> gamma(mean / scale, scale);
    const double n = std::round(gamma(random_));
    return static_cast<unsigned>(
        std::clamp(n, static_cast<double>(least), static_cast<double>(most)));
  }
  /// Draws a word; rank r has a probability proportional to 1 / r.
  unsigned word(unsigned words) {
    return static_cast<unsigned>(std::pow(words + 1.0, uniform())) - 1;
  }
  unsigned below(unsigned n) { return static_cast<unsigned>(n * uniform()); }
  double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }

 private:
  std::mt19937 random_{1};
};

/// `steep`: probability that a single word is split off on the left.
int grow(Generator& random, const Trees& data, unsigned leaves, double steep,
         std::vector<TreeNode>& tree) {
  TreeNode node;
  node.label = random.below(data.labels);
  if (leaves == 1) {
    node.word = random.word(data.words);
  } else {
    const double where = random.uniform();
    unsigned left = 1 + random.below(leaves - 1);
    if (where < steep) left = 1;
    if (where > 0.88) left = leaves - 1;
    node.left = grow(random, data, left, steep, tree);
    node.right = grow(random, data, leaves - left, steep, tree);
  }
  tree.push_back(node);
  return static_cast<int>(tree.size()) - 1;
}

}  // namespace

Trees make_trees() {
  Generator random;
  Trees data{.trees = std::vector<std::vector<TreeNode>>(8544), .words = 18280, .labels = 5};
  for (auto& tree : data.trees) {
    const unsigned leaves = random.length(19.1, 9.3, 2, 52);
    grow(random, data, leaves, random.below(2) ? 0.25 : 0.52, tree);
  }
  return data;
}

TaggedText make_tagged_text() {
  Generator random;
  TaggedText data{.sentences = std::vector<TaggedSentence>(1696), .words = 8504, .tags = 5};
  for (TaggedSentence& s : data.sentences) {
    for (unsigned t = random.length(23.0, 13.1, 1, 150); t > 0; --t) {
      s.words.push_back(random.word(data.words));
      s.tags.push_back(random.below(data.tags));
    }
  }
  return data;
}

Text make_text() {
  Generator random;
  Text data{.sentences = std::vector<std::vector<unsigned>>(8431), .words = 9186};
  for (auto& s : data.sentences) {
    s.resize(random.length(24.0, 11.9, 2, 60));
    for (unsigned& w : s) w = random.word(data.words - 1);
  }
  return data;
}

}  // namespace bench
