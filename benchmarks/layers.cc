// Losses over large vocabularies, and character-based word vectors: time, and quality after
// training.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "benchmarks/measure.h"
#include "dynet-like/base/random.h"
#include "dynet-like/dynet.h"

namespace {

using namespace dynet;

constexpr unsigned kContext = 3, kWord = 64, kHidden = 128, kBatch = 64, kSamples = 200;

struct Text {
  std::vector<unsigned> train, test;  // words numbered by descending frequency
  unsigned words = 0;
};

/// Words of WikiText-2's valid.txt, a tenth of it as test data, in which words missing in the rest
/// are unknown; random words without the file.
Text read(const std::string& data) {
  std::vector<std::string> tokens;
  std::ifstream in(data + "/wikitext2/valid.txt");
  for (std::string line; std::getline(in, line); tokens.push_back("<eos>")) {
    std::istringstream words(line);
    for (std::string w; words >> w;) tokens.push_back(w);
  }
  if (tokens.empty())
    for (unsigned i = 0; i < 20000; ++i)
      tokens.push_back(std::to_string(int(std::exp(9.5 * RandomStream(1).uniform(i)))));
  const std::size_t end = tokens.size() / 10 * 9;
  std::map<std::string, unsigned> counts = {{"<unk>", 1}};
  for (std::size_t i = 0; i < end; ++i) ++counts[tokens[i]];
  std::vector<std::pair<unsigned, std::string>> order;
  for (const auto& [w, n] : counts) order.push_back({n, w});
  std::sort(order.begin(), order.end(), std::greater<>());
  std::map<std::string, unsigned> numbers;
  for (const auto& [n, w] : order) numbers.emplace(w, static_cast<unsigned>(numbers.size()));
  Text text;
  text.words = static_cast<unsigned>(numbers.size());
  for (std::size_t i = 0; i < tokens.size(); ++i)
    (i < end ? text.train : text.test)
        .push_back(numbers.at(counts.contains(tokens[i]) ? tokens[i] : "<unk>"));
  return text;
}

/// Previous words of 64 positions of a text, by distance, and the words there.
struct Minibatch {
  std::vector<unsigned> before[kContext], words;
  Minibatch(const std::vector<unsigned>& text, std::size_t first, std::size_t stride) {
    for (std::size_t at = first + kContext; at < text.size() && words.size() < kBatch;
         at += stride) {
      for (unsigned k = 0; k < kContext; ++k) before[k].push_back(text[at - 1 - k]);
      words.push_back(text[at]);
    }
  }
};

/// Predicts a word from the three previous ones (Bengio et al. 2003).
struct Model {
  ParameterCollection parameters;
  LookupParameter table;
  std::vector<Parameter> weights;
  Parameter bias;
  std::unique_ptr<SoftmaxBuilder> softmax;

  Model(const std::string& loss, unsigned words) {
    parameters.set_seed(1);
    table = parameters.add_lookup_parameters(words, {kWord});
    for (unsigned k = 0; k < kContext; ++k)
      weights.push_back(parameters.add_parameters({kHidden, kWord}));
    bias = parameters.add_parameters({kHidden}, ParameterInitConst(0));
    if (loss == "adaptive")
      softmax = std::make_unique<AdaptiveSoftmaxBuilder>(
          parameters, AdaptiveSoftmaxBuilder::Settings{kHidden, words, {words / 16, words / 4}});
    else if (loss == "standard")
      softmax = std::make_unique<StandardSoftmaxBuilder>(kHidden, words, parameters);
    else
      softmax = std::make_unique<SampledSoftmaxBuilder>(
          parameters, SampledSoftmaxBuilder::Settings{kHidden, words, kSamples});
  }
  Expression hidden(ComputationGraph& cg, const Minibatch& m) const {
    std::vector<Expression> terms = {parameter(cg, bias)};
    for (unsigned k = 0; k < kContext; ++k) {
      terms.push_back(parameter(cg, weights[k]));
      terms.push_back(lookup(cg, table, m.before[k]));
    }
    return tanh(affine_transform(terms));
  }
};

double perplexity(Model& model, const std::vector<unsigned>& text) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t first = 0; first + kContext < text.size(); first += kBatch) {
    const Minibatch m(text, first, 1);
    ComputationGraph cg;
    cg.set_inference(true);
    model.softmax->new_graph(cg, false);
    const Expression losses = model.softmax->neg_log_softmax(model.hidden(cg, m), m.words);
    sum += static_cast<double>(as_scalar(sum_batches(losses).value()));
    count += m.words.size();
  }
  return std::exp(sum / static_cast<double>(count));
}

void train(const std::string& loss, const Text& text, unsigned epochs) {
  Model model(loss, text.words);
  AdamTrainer trainer(model.parameters);
  const std::size_t updates = (text.train.size() - kContext) / kBatch;
  for (unsigned epoch = 1; epoch <= epochs; ++epoch) {
    const double start = bench::now();
    for (std::size_t u = 0; u < updates; ++u) {
      const Minibatch m(text.train, u, updates);
      ComputationGraph cg;
      cg.set_seed(epoch * updates + u);
      model.softmax->new_graph(cg);
      const Expression h = model.hidden(cg, m);
      auto* sampled = dynamic_cast<SampledSoftmaxBuilder*>(model.softmax.get());
      const Expression losses = loss == "nce"       ? sampled->nce_loss(h, m.words)
                                : loss == "sampled" ? sampled->sampled_loss(h, m.words)
                                                    : model.softmax->neg_log_softmax(h, m.words);
      cg.backward(mean_batches(losses));
      trainer.update();
    }
    const double seconds = bench::now() - start;
    std::printf("%-9s epoch %u: %6.1f s, perplexity %.0f\n", loss.c_str(), epoch, seconds,
                perplexity(model, text.test));
    std::fflush(stdout);
  }
}

/// Milliseconds of forward and backward for 200 words of 1 to 12 characters, and number of kernel
/// calls.
template <class Read, class Layer>
void characters(const char* name, Layer& layer, int rounds, Read read) {
  const RandomStream random(3);
  std::size_t batches = 0;
  const double seconds = bench::fastest(rounds, [&] {
    ComputationGraph cg;
    layer.new_graph(cg);
    std::vector<Expression> words;
    for (unsigned k = 0; k < 200; ++k) {
      std::vector<unsigned> word;
      for (unsigned i = 0; i < 1 + random.bits(k) % 12; ++i)
        word.push_back(static_cast<unsigned>(random.bits(1000 + 12 * k + i) % 60));
      words.push_back(read(layer, word));
    }
    const Expression loss = squared_norm(sum(words));
    cg.forward(loss);
    batches = cg.statistics().batches;
    cg.backward(loss);
  });
  std::printf("%-11s %6.2f ms, %zu kernel calls\n", name, 1e3 * seconds, batches);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Losses over many words, and words from their characters"};
  std::string data;
  unsigned epochs = 2;
  int rounds = 20;
  std::vector<std::string> losses = {"standard", "adaptive", "sampled", "nce"};
  app.add_option("DATA", data, "folder with wikitext2/valid.txt")->envname("DYNET_DATA");
  app.add_option("--epochs", epochs, "passes over the text");
  app.add_option("--rounds", rounds, "of characters");
  app.add_option("--loss", losses, "standard, adaptive, sampled, nce");
  CLI11_PARSE(app, argc, argv);

  std::printf("calibrator: %.1f GFLOP/s\n", bench::calibrator());
  ParameterCollection pc;
  CharCnn cnn(pc, {60, 32, {2, 3, 4}, 50});
  C2WBuilder lstm(60, 1, 32, 150, pc);
  characters("CharCnn", cnn, rounds, [](auto& layer, const auto& w) { return layer.apply(w); });
  characters("C2WBuilder", lstm, rounds,
             [](auto& layer, const auto& w) { return layer.compose(w); });
  const Text text = read(data);
  std::printf("%zu words to train on, %zu to test, %u different\n", text.train.size(),
              text.test.size(), text.words);
  for (const std::string& loss : losses) train(loss, text, epochs);
}
