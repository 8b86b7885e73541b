// A BiLSTM tagger in training: words of 128 numbers, 2 x 50 hidden units, a layer of 32, five tags;
// one Adam step for each group of sentences, all in one graph.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "benchmarks/measure.h"
#include "dynet-like/dynet.h"

namespace {

using namespace dynet;

struct Sentence {
  std::vector<unsigned> words, tags;
};

struct Data {
  std::vector<Sentence> sentences;
  unsigned words = 0, tags = 0;
};

/// Lines of `word|TAG word|TAG ...`.
Data read_data(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  Data data;
  std::unordered_map<std::string, unsigned> words, tags;
  const auto number = [](auto& map, const std::string& key) {
    return map.emplace(key, static_cast<unsigned>(map.size())).first->second;
  };
  std::string line, token;
  while (std::getline(file, line)) {
    Sentence s;
    for (std::istringstream in(line); in >> token;) {
      const std::size_t bar = token.rfind('|');
      if (bar == std::string::npos) throw std::runtime_error("no | in " + token);
      s.words.push_back(number(words, token.substr(0, bar)));
      s.tags.push_back(number(tags, token.substr(bar + 1)));
    }
    if (!s.words.empty()) data.sentences.push_back(std::move(s));
  }
  if (data.sentences.empty()) throw std::runtime_error("no sentences in " + path);
  data.words = static_cast<unsigned>(words.size());
  data.tags = static_cast<unsigned>(tags.size());
  return data;
}

/// Random data of the same shape as the wikigold corpus: sentences, lengths, vocabulary, tags.
Data make_data() {
  constexpr unsigned kSentences = 1696, kWords = 10'000;
  std::mt19937 random(1);
  std::gamma_distribution<double> length(3.1, 7.4);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::discrete_distribution<unsigned> tag({83, 5, 4, 4, 4});
  Data data;
  data.words = kWords;
  data.tags = 5;
  for (unsigned i = 0; i < kSentences; ++i) {
    Sentence s;
    for (int t = std::max(1, static_cast<int>(std::lround(length(random)))); t > 0; --t) {
      // Zipf's law: the word of rank r with a probability like 1 / r
      s.words.push_back(static_cast<unsigned>(std::pow(kWords + 1.0, uniform(random))) - 1);
      s.tags.push_back(tag(random));
    }
    data.sentences.push_back(std::move(s));
  }
  return data;
}

class Tagger {
 public:
  Tagger(ParameterCollection& model, unsigned words, unsigned tags)
      : words_(model.add_lookup_parameters(words, {kWord})),
        forward_(1, kWord, kHidden, model),
        backward_(1, kWord, kHidden, model),
        hidden_(model.add_parameters({kLayer, 2 * kHidden})),
        output_(model.add_parameters({tags, kLayer})) {}

  void new_graph(ComputationGraph& cg) {
    forward_.new_graph(cg);
    backward_.new_graph(cg);
    h_ = parameter(cg, hidden_);
    o_ = parameter(cg, output_);
  }

  /// Adds the loss of every word to `losses`.
  void add_losses(ComputationGraph& cg, const Sentence& s, std::vector<Expression>& losses) {
    const std::size_t n = s.words.size();
    x_.resize(n);
    left_.resize(n);
    right_.resize(n);
    for (std::size_t t = 0; t < n; ++t) x_[t] = lookup(cg, words_, s.words[t]);
    forward_.start_new_sequence();
    for (std::size_t t = 0; t < n; ++t) left_[t] = forward_.add_input(x_[t]);
    backward_.start_new_sequence();
    for (std::size_t t = n; t-- > 0;) right_[t] = backward_.add_input(x_[t]);
    for (std::size_t t = 0; t < n; ++t) {
      const Expression scores = o_ * tanh(h_ * concatenate({left_[t], right_[t]}));
      losses.push_back(pickneglogsoftmax(scores, s.tags[t]));
    }
  }

 private:
  static constexpr unsigned kWord = 128, kHidden = 50, kLayer = 32;

  LookupParameter words_;
  VanillaLSTMBuilder forward_, backward_;
  Parameter hidden_, output_;
  Expression h_, o_;
  std::vector<Expression> x_, left_, right_;
};

struct Result {
  double words = 0, nodes = 0, loss = 0;
  double build = 0, forward = 0, backward = 0, update = 0;

  double seconds() const { return build + forward + backward + update; }
};

Result train(const Data& data, std::size_t group, double seconds, bool batched) {
  ParameterCollection model;
  AdamTrainer trainer(model, 0.001f);
  trainer.clipping_enabled = false;
  Tagger tagger(model, data.words, data.tags);
  std::vector<Expression> losses;
  Result result;
  std::size_t next = 0;
  for (double time = bench::now(); result.seconds() < seconds;) {
    const auto lap = [&time](double& phase) {
      const double t = bench::now();
      phase += t - time;
      time = t;
    };
    ComputationGraph cg(batched);
    tagger.new_graph(cg);
    losses.clear();
    for (std::size_t k = 0; k < group; ++k)
      tagger.add_losses(cg, data.sentences[next++ % data.sentences.size()], losses);
    const Expression loss = sum(losses);
    lap(result.build);
    result.loss += static_cast<double>(as_scalar(loss.value()));
    lap(result.forward);
    cg.backward(loss);
    lap(result.backward);
    trainer.update();
    lap(result.update);
    result.words += static_cast<double>(losses.size());
    result.nodes += static_cast<double>(cg.size());
  }
  return result;
}

void report(const Result& r, std::size_t group, double calibrator) {
  const double rate = r.words / r.seconds(), us = 1e6 / r.words;
  std::printf(
      "group %2zu  %7.0f words/s  %6.0f per GFLOP/s  us a word: build %.2f  forward %.2f  "
      "backward %.2f  update %.2f  total %.2f   nodes a word %.1f  loss %.4f\n",
      group, rate, rate / calibrator, r.build * us, r.forward * us, r.backward * us, r.update * us,
      r.seconds() * us, r.nodes / r.words, r.loss / r.words);
}

const char* find_data(const char* argument) {
  return argument ? argument : std::getenv("DYNET_DATA");
}

int run(int argc, char** argv) {
  bool batched = false;
  std::vector<const char*> words;
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--batched") == 0)
      batched = true;
    else
      words.push_back(argv[i]);
  // The data may be left out, the numbers behind it too.
  const bool names_data = !words.empty() && !std::isdigit(static_cast<unsigned char>(*words[0]));
  const char* where = find_data(names_data ? words[0] : nullptr);
  if (names_data) words.erase(words.begin());
  const int group = words.size() > 0 ? std::atoi(words[0]) : 0;
  const double seconds = words.size() > 1 ? std::atof(words[1]) : 10.0;
  if (group < 0 || seconds <= 0 || words.size() > 2) {
    std::cerr << "usage: bench-tagger [DATA] [GROUP [SECONDS]] [--batched]\n";
    return 2;
  }

  Data data;
  if (where) {
    std::filesystem::path path = where;
    if (std::filesystem::is_directory(path)) path = path / "wikigold" / "wikigold.txt";
    data = read_data(path.string());
  } else {
    data = make_data();
    std::printf("random data in the shape of wikigold\n");
  }
  const double calibrator = bench::calibrator();
  std::printf("calibrator %.1f GFLOP/s%s\n", calibrator, batched ? ", batched" : "");
  std::printf(
      "words a second per GFLOP/s of DyNet: 299 at group 1, 400 at group 64 (batched); by "
      "hand without a graph: 1130 and 1810\n");
  if (group > 0) {
    report(train(data, static_cast<std::size_t>(group), seconds, batched),
           static_cast<std::size_t>(group), calibrator);
  } else {
    for (const std::size_t g : {1, 8, 64}) report(train(data, g, seconds, batched), g, calibrator);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "bench-tagger: " << e.what() << "\n";
    return 1;
  }
}
