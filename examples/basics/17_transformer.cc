// Numbers to words with a transformer: "314" becomes "three one four".
//
// An encoder (Vaswani et al. 2017) reads the digits, a decoder writes letters and looks at what was
// read. A sentence is a matrix with a column for each token: nothing is padded, nothing is masked.
// To write, beam_search keeps the four best beginnings of each answer; the decoder's cache holds
// what a beginning has read so far, and is copied where it goes on in two ways. All answers and
// all beginnings run in the same few batches.
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

std::string text_of(const Tokens& letters) {
  std::string text;
  for (const unsigned x : letters) text += x == kSpace ? ' ' : static_cast<char>('a' + x - 1);
  return text;
}

class Speller {
 public:
  Speller()
      : digits_(model, {10, kSize}),
        letters_(model, {kLetters, kSize}),
        encoder_(model, {.layers = 2, .size = kSize, .heads = 4, .hidden = 128}),
        decoder_(model, {.layers = 2, .size = kSize, .heads = 4, .hidden = 128, .memory = kSize}) {}

  void new_graph(ComputationGraph& cg) {
    graph_ = &cg;
    digits_.new_graph(cg);
    letters_.new_graph(cg);
    encoder_.new_graph(cg);
    decoder_.new_graph(cg);
  }
  Expression read(const Tokens& digits) { return encoder_.apply(placed(digits_.apply(digits), 0)); }
  /// The decoder is given what came before each letter, and says what comes next.
  Expression loss(const Sample& s) {
    Tokens before = s.letters, next = s.letters;
    before.insert(before.begin(), kEnd);
    next.push_back(kEnd);
    const auto length = static_cast<unsigned>(next.size());
    const Expression y = decoder_.apply(placed(letters_.apply(before), 0), read(s.digits));
    const Expression scores = reshape(letters_.logits(y), Dim({kLetters}, length));
    return sum_batches(pickneglogsoftmax(scores, next));
  }
  std::vector<Tokens> write(const std::vector<Sample>& samples) {
    std::vector<DecoderCache> starts;
    for (const Sample& s : samples) starts.push_back(decoder_.start(read(s.digits)));
    const auto step = [&](DecoderCache& cache, unsigned last) {
      const Expression x = placed(letters_.apply({last}), cache.size());
      auto [y, now] = decoder_.step(cache, x);
      cache = std::move(now);
      return log_softmax(letters_.logits(y));
    };
    BeamSettings settings;
    settings.width = 4;
    settings.begin = settings.end = kEnd;
    settings.max_length = 40;
    settings.normalization = LengthNormalization::kPower;
    std::vector<Tokens> answers;
    for (const auto& best : beam_search(starts, step, settings)) answers.push_back(best[0].tokens);
    return answers;
  }

  ParameterCollection model;

 private:
  Expression placed(const Expression& x, unsigned first) {
    return x + sinusoidal_positions(*graph_, kSize, x.dim().cols(), first);
  }

  Embedding digits_, letters_;
  TransformerEncoder encoder_;
  TransformerDecoder decoder_;
  ComputationGraph* graph_ = nullptr;
};

}  // namespace

int main() {
  constexpr unsigned kBound = 10;  // of a hundred answers may be wrong
  std::mt19937 random(1);
  std::vector<Sample> train, test;
  for (int i = 0; i < 1000; ++i) train.push_back(invent(random));
  for (int i = 0; i < 100; ++i) test.push_back(invent(random));

  Speller speller;
  AdamTrainer trainer(speller.model, 0.001f);
  for (int epoch = 1; epoch <= 15; ++epoch) {
    std::shuffle(train.begin(), train.end(), random);
    double sum = 0;
    for (std::size_t i = 0; i < train.size(); i += 20) {
      ComputationGraph cg;
      speller.new_graph(cg);
      std::vector<Expression> losses;
      for (std::size_t k = i; k < i + 20; ++k) losses.push_back(speller.loss(train[k]));
      const Expression loss = average(losses);
      sum += as_scalar(cg.forward(loss));
      cg.backward(loss);
      trainer.update();
    }
    std::cout << "epoch " << epoch << ": loss " << sum / 50 << '\n';
  }

  ComputationGraph cg;
  speller.new_graph(cg);
  const std::vector<Tokens> answers = speller.write(test);
  unsigned wrong = 0;
  for (std::size_t i = 0; i < test.size(); ++i) wrong += answers[i] != test[i].letters;
  for (const unsigned digit : test[0].digits) std::cout << digit;
  std::cout << " is " << text_of(answers[0]) << '\n' << wrong << " of 100 answers are wrong\n";
  return wrong > kBound;
}
