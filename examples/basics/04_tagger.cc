// A tagger: a bidirectional LSTM assigns a tag to every word of a sentence.
//
// A recurrent builder owns the parameters of its cells. It has three calls: new_graph() adds the
// parameters to a graph, start_new_sequence() resets the state, add_input() makes a step.
// BiRNNBuilder runs two builders over a whole sequence, left to right and right to left, and
// concatenates their outputs at every position, so that each output depends on the words on both
// sides.
//
// The model is a class of a few lines. It stores parameters, builders and layers, which enter each
// graph once; everything that depends on the sentence is local to the function that builds its
// part of the graph. Linear is the layer y = W x + b.
//
// The data need both directions: words are numbers, and the tag of a word is whether its left
// neighbour is larger than its right one.
#include <iostream>
#include <random>
#include <vector>

#include "dynet-like/dynet.h"

using namespace dynet;

namespace {

constexpr unsigned kWords = 8, kTags = 2;

struct Sentence {
  std::vector<unsigned> words, tags;
};

Sentence draw(std::mt19937& random) {
  Sentence s;
  s.words.resize(3 + random() % 8);
  for (unsigned& word : s.words) word = random() % kWords;
  for (std::size_t t = 0; t < s.words.size(); ++t) {
    const unsigned left = t > 0 ? s.words[t - 1] : 0;
    const unsigned right = t + 1 < s.words.size() ? s.words[t + 1] : 0;
    s.tags.push_back(left > right);
  }
  return s;
}

class Tagger {
 public:
  explicit Tagger(ParameterCollection& model)
      : embeddings_(model.add_lookup_parameters(kWords, {8})),
        lstm_(1, 8, 32, model),
        output_(model, {32, kTags}) {}

  void new_graph(ComputationGraph& cg) {
    lstm_.new_graph(cg);
    output_.new_graph(cg);
  }

  // One vector of scores per word.
  std::vector<Expression> scores(ComputationGraph& cg, const Sentence& s) {
    std::vector<Expression> x;
    for (unsigned word : s.words) x.push_back(lookup(cg, embeddings_, word));
    x = lstm_.transduce(x);
    for (Expression& h : x) h = output_.apply(h);
    return x;
  }

 private:
  LookupParameter embeddings_;
  BiRNNBuilder<VanillaLSTMBuilder> lstm_;
  Linear output_;
};

}  // namespace

int main() {
  constexpr float kBound = 0.12f;  // bound of the mean loss per word in the last update

  ParameterCollection model;
  Tagger tagger(model);
  AdamTrainer trainer(model, 0.01f);

  std::mt19937 random(1);
  float per_word = 0;
  for (int step = 1; step <= 250; ++step) {
    ComputationGraph cg;
    tagger.new_graph(cg);
    std::vector<Expression> losses;
    for (int k = 0; k < 16; ++k) {  // 16 sentences in one graph; see 03
      const Sentence s = draw(random);
      const std::vector<Expression> scores = tagger.scores(cg, s);
      for (std::size_t t = 0; t < scores.size(); ++t)
        losses.push_back(pickneglogsoftmax(scores[t], s.tags[t]));
    }
    Expression loss = average(losses);
    per_word = as_scalar(cg.forward(loss));
    cg.backward(loss);
    trainer.update();
    if (step % 50 == 0) std::cout << "update " << step << ": loss per word " << per_word << '\n';
  }

  if (per_word < kBound) return 0;
  std::cerr << "The loss is " << per_word << ", which should be below " << kBound << ".\n";
  return 1;
}
