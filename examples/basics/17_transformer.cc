// Numbers to words with a transformer: "314" becomes "three one four".
//
// An encoder (Vaswani et al. 2017) reads the digits, a decoder writes letters and attends to the
// encoder's output. A sentence is a matrix with one column per token, without padding and masks. To
// write, beam_search keeps the four best prefixes of each answer; the decoder's cache holds keys
// and values of a prefix. All prefixes of all answers run in the same few batches.
#include <algorithm>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "dynet-like/dynet.h"

using namespace dynet;

namespace {

using Tokens = std::vector<unsigned>;
constexpr unsigned kEnd = 0, kSpace = 27, kLetters = 28, kSize = 64;

struct Sample {
  Tokens digits, letters;
};

Sample invent(std::mt19937& random) {
  const char* const names[] = {"zero", "one", "two",   "three", "four",
                               "five", "six", "seven", "eight", "nine"};
  Sample s;
  for (unsigned n = 1 + random() % 6; n > 0; --n) {
    s.digits.push_back(static_cast<unsigned>(random() % 10));
    if (!s.letters.empty()) s.letters.push_back(kSpace);
    for (const char letter : std::string(names[s.digits.back()]))
      s.letters.push_back(static_cast<unsigned>(letter - 'a') + 1);
  }
  return s;
}

struct Speller {
  ParameterCollection model;
  Embedding digits{model, {10, kSize}}, letters{model, {kLetters, kSize}};
  TransformerEncoder encoder{model, {.layers = 2, .size = kSize, .heads = 4, .hidden = 128}};
  TransformerDecoder decoder{
      model, {.layers = 2, .size = kSize, .heads = 4, .hidden = 128, .memory = kSize}};
  ComputationGraph* graph = nullptr;

  void new_graph(ComputationGraph& cg) {
    graph = &cg;
    for (Embedding* table : {&digits, &letters}) table->new_graph(cg);
    encoder.new_graph(cg);
    decoder.new_graph(cg);
  }
  Expression placed(const Expression& x, unsigned first) {
    return x + sinusoidal_positions(*graph, kSize, x.dim().cols(), first);
  }
  Expression read(const Tokens& number) { return encoder.apply(placed(digits.apply(number), 0)); }
  /// The decoder reads the tokens before each letter, and predicts the letter.
  Expression loss(const Sample& s) {
    Tokens before = s.letters, next = s.letters;
    before.insert(before.begin(), kEnd);
    next.push_back(kEnd);
    const auto length = static_cast<unsigned>(next.size());
    const Expression y = decoder.apply(placed(letters.apply(before), 0), read(s.digits));
    const Expression scores = reshape(letters.logits(y), Dim({kLetters}, length));
    return sum_batches(pickneglogsoftmax(scores, next));
  }
  std::vector<Tokens> write(const std::vector<Sample>& samples) {
    std::vector<DecoderCache> starts;
    for (const Sample& s : samples) starts.push_back(decoder.start(read(s.digits)));
    const auto step = [&](DecoderCache& cache, unsigned last) {
      const Expression x = placed(letters.apply({last}), cache.size());
      auto [y, now] = decoder.step(cache, x);
      cache = std::move(now);
      return log_softmax(letters.logits(y));
    };
    BeamSettings settings;
    settings.width = 4;
    settings.begin = settings.end = kEnd;
    settings.normalization = LengthNormalization::kPower;
    std::vector<Tokens> answers;
    for (const auto& best : beam_search(starts, step, settings)) answers.push_back(best[0].tokens);
    return answers;
  }
};

}  // namespace

int main() {
  constexpr unsigned kBound = 10;  // bound of the number of wrong answers among a hundred
  std::mt19937 random(1);
  std::vector<Sample> train, test;
  for (int i = 0; i < 1000; ++i) train.push_back(invent(random));
  for (int i = 0; i < 100; ++i) test.push_back(invent(random));

  Speller speller;
  AdamTrainer trainer(speller.model, 0.001f);
  for (int epoch = 0; epoch < 15; ++epoch) {
    std::shuffle(train.begin(), train.end(), random);
    for (std::size_t i = 0; i < train.size(); i += 20) {
      ComputationGraph cg;
      speller.new_graph(cg);
      std::vector<Expression> losses;
      for (std::size_t k = i; k < i + 20; ++k) losses.push_back(speller.loss(train[k]));
      cg.backward(average(losses));
      trainer.update();
    }
  }

  ComputationGraph cg;
  speller.new_graph(cg);
  const std::vector<Tokens> answers = speller.write(test);
  unsigned wrong = 0;
  for (std::size_t i = 0; i < test.size(); ++i) wrong += answers[i] != test[i].letters;
  for (const unsigned digit : test[0].digits) std::cout << digit;
  std::cout << " is ";
  for (const unsigned x : answers[0]) std::cout << (x == kSpace ? ' ' : static_cast<char>('`' + x));
  std::cout << '\n' << wrong << " of 100 answers are wrong\n";
  return wrong > kBound;
}
