// A language model: an LSTM predicts the next word, and generates sentences.
//
// The model reads a sentence word by word. After each word, a softmax over the vocabulary gives
// the probability of every possible next word. The loss is -log p of the actual word, summed over
// the text; e to its mean per word is the perplexity. StandardSoftmaxBuilder is the output layer;
// other softmax builders, for large vocabularies, have the same interface.
//
// Sentences come from a small grammar in which the verb agrees with the subject: "a cat in the
// gardens sleeps", "the cats in the garden sleep". The number of the subject must survive the words
// in between, which is what the memory of an LSTM is for.
//
// To generate, the program samples a word, feeds it back, and repeats until the end of the
// sentence. The graph grows while it runs: sample() computes only nodes without a value.
#include <cmath>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "dynet-like/io/dict.h"

using namespace dynet;

namespace {

std::vector<std::string> draw(std::mt19937& random) {
  const bool plural = random() % 2, others = random() % 2;
  const std::string noun = random() % 2 ? "cat" : "dog", verb = random() % 2 ? "sleep" : "eat";
  std::vector<std::string> s = {plural ? "the" : "a", noun + (plural ? "s" : "")};
  if (random() % 2) s.insert(s.end(), {"in", "the", others ? "gardens" : "garden"});
  s.push_back(verb + (plural ? "" : "s"));
  return s;
}

}  // namespace

int main() {
  constexpr unsigned kHidden = 24, kEnd = 0;
  constexpr float kBound = 1.88f;  // bound of the perplexity; the grammar's own is 1.76

  Dict words({"</s>"});  // </s> also begins every sentence
  std::mt19937 random(1);
  for (int k = 0; k < 200; ++k)
    for (const std::string& w : draw(random)) words.convert(w);
  words.freeze();

  ParameterCollection model;
  LookupParameter embeddings = model.add_lookup_parameters(words.size(), {12});
  VanillaLSTMBuilder lstm(1, 12, kHidden, model);
  StandardSoftmaxBuilder output(kHidden, words.size(), model);
  AdamTrainer trainer(model, 0.02f);

  float mean = 0, perplexity = 0;
  for (int step = 1; step <= 150; ++step) {
    ComputationGraph cg;
    lstm.new_graph(cg);
    output.new_graph(cg);
    std::vector<Expression> losses;
    for (int k = 0; k < 32; ++k) {
      unsigned previous = kEnd;
      std::vector<std::string> sentence = draw(random);
      sentence.push_back("</s>");
      lstm.start_new_sequence();
      for (const std::string& word : sentence) {
        const auto next = static_cast<unsigned>(words.convert(word));
        const Expression h = lstm.add_input(lookup(cg, embeddings, previous));
        losses.push_back(output.neg_log_softmax(h, next));
        previous = next;
      }
    }
    Expression loss = average(losses);
    mean += as_scalar(cg.forward(loss)) / 50;
    cg.backward(loss);
    trainer.update();
    if (step % 50 == 0) {
      perplexity = std::exp(mean), mean = 0;
      std::cout << "updates up to " << step << ": perplexity " << perplexity << '\n';
    }
  }

  ComputationGraph cg;
  cg.set_seed(3);  // seed of sample()
  lstm.new_graph(cg);
  output.new_graph(cg);
  for (int k = 0; k < 3; ++k) {
    unsigned word = kEnd;
    lstm.start_new_sequence();
    for (int n = 0; n < 12 && (n == 0 || word != kEnd); ++n) {
      word = output.sample(lstm.add_input(lookup(cg, embeddings, word)));
      if (word != kEnd) std::cout << words.convert(static_cast<int>(word)) << ' ';
    }
    std::cout << '\n';
  }

  if (perplexity < kBound) return 0;
  std::cerr << "The perplexity is " << perplexity << ", which should be below " << kBound << ".\n";
  return 1;
}
