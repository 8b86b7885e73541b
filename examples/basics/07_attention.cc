// Encoder and decoder with attention: sequence to sequence.
//
// A bidirectional LSTM turns the source into one column per word. Another LSTM writes the target.
// Before each word its state is compared with every column; a softmax turns the scores into
// weights, and the weighted sum of the columns is read along with the previous word (Luong, Pham
// and Manning 2015).
//
// Lengths differ. concatenate_cols() makes a matrix with one column per source word; attention is
// then two products and a softmax.
//
// The task is to reverse a sequence. In training the decoder reads the correct previous word, in
// decoding its own: a program may read values while it builds the graph.
#include <algorithm>
#include <iostream>
#include <random>
#include <vector>

#include "dynet-like/dynet.h"

using namespace dynet;
using Words = std::vector<unsigned>;

namespace {

constexpr unsigned kWords = 8, kEnd = 0, kDim = 32;

struct Translator {
  ParameterCollection model;
  BiRNNBuilder<VanillaLSTMBuilder> encoder{1, kDim, kDim, model};
  VanillaLSTMBuilder decoder{1, 2 * kDim, kDim, model};
  LookupParameter embeddings = model.add_lookup_parameters(kWords, {kDim});
  Linear key{model, {kDim, kDim, false}}, output{model, {kDim, kWords, false}};
  Expression columns, keys, state;  // of the current source

  void new_graph(ComputationGraph& cg) {
    encoder.new_graph(cg), decoder.new_graph(cg), key.new_graph(cg), output.new_graph(cg);
  }
  void read(ComputationGraph& cg, const Words& source) {
    std::vector<Expression> x;
    for (unsigned word : source) x.push_back(lookup(cg, embeddings, word));
    columns = concatenate_cols(encoder.transduce(x));       // {kDim, n} for n words
    keys = transpose(key.apply(columns));                   // {n, kDim}
    state = pick(columns, unsigned(source.size()) - 1, 1);  // the last column
    decoder.start_new_sequence();
  }
  // Scores of the next word.
  Expression write(ComputationGraph& cg, unsigned previous) {
    const Expression weights = softmax(keys * state);  // {n}
    const Expression context = columns * weights;      // {kDim}
    state = decoder.add_input(concatenate({context, lookup(cg, embeddings, previous)}));
    return output.apply(state);
  }
};

Words draw(std::mt19937& random) {
  Words source(2 + random() % 4);
  for (unsigned& word : source) word = 1 + random() % (kWords - 1);
  return source;
}

}  // namespace

int main() {
  constexpr float kBound = 0.1f;  // bound of the mean loss per word in the last update
  Translator translator;
  AdamTrainer trainer(translator.model, 0.005f);
  std::mt19937 random(1);
  float per_word = 0;
  for (int step = 1; step <= 500; ++step) {
    ComputationGraph cg;
    translator.new_graph(cg);
    std::vector<Expression> losses;
    for (int k = 0; k < 16; ++k) {
      const Words source = draw(random);
      translator.read(cg, source);
      Words target(source.rbegin(), source.rend());
      target.push_back(kEnd);
      for (std::size_t t = 0; t < target.size(); ++t) {
        const unsigned previous = t > 0 ? target[t - 1] : kEnd;
        losses.push_back(pickneglogsoftmax(translator.write(cg, previous), target[t]));
      }
    }
    Expression loss = average(losses);
    per_word = as_scalar(cg.forward(loss));
    cg.backward(loss);
    trainer.update();
    if (step % 100 == 0) std::cout << "update " << step << ": loss per word " << per_word << '\n';
  }

  ComputationGraph cg;
  translator.new_graph(cg);
  translator.read(cg, {1, 2, 3, 4, 5});
  for (unsigned n = 0, word = kEnd; n < 10 && (n == 0 || word != kEnd); ++n) {
    const std::vector<float> scores = as_vector(translator.write(cg, word).value());
    word = unsigned(std::max_element(scores.begin(), scores.end()) - scores.begin());
    std::cout << word << (word == kEnd ? '\n' : ' ');
  }

  if (per_word < kBound) return 0;
  std::cerr << "The loss is " << per_word << ", which should be below " << kBound << ".\n";
  return 1;
}
