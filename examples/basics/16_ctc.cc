// Spelling to sound with CTC: labels without an alignment.
//
// A word has letters and phones, and nobody says which letter makes which phone. Connectionist
// temporal classification (Graves et al. 2006) gives every frame of the input, here three for each
// letter, a distribution over the phones and a blank. What is left of a sequence of frames when
// repeats and blanks are taken out are the phones. ctc_loss sums over all sequences that leave the
// right ones; words of all lengths run in one batch, without padding.
//
// The words are invented: "ch" and "ae" are one phone, "x" is two. With two files of words and
// phones (word, tab, phones with spaces) it learns the first and is tested on the second.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>

#include "dynet-like/dynet.h"

using namespace dynet;

namespace {

using Symbols = std::vector<std::string>;

struct Word {
  Symbols letters, phones;
};

// The characters of UTF-8.
Symbols letters_of(const std::string& text) {
  Symbols letters;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) letters.emplace_back();
    letters.back() += c;
  }
  return letters;
}

Word invent(std::mt19937& random) {
  const std::pair<const char*, Symbols> parts[] = {
      {"a", {"a"}}, {"ae", {"e:"}}, {"c", {"k"}}, {"ch", {"tS"}}, {"x", {"k", "s"}}};
  std::string spelling;
  Word word;
  for (unsigned k = 0, n = 1 + random() % 8; k < n; ++k) {
    const auto& [letters, phones] = parts[random() % 5];
    spelling += letters;
    word.phones.insert(word.phones.end(), phones.begin(), phones.end());
  }
  word.letters = letters_of(spelling);
  return word;
}

std::vector<Word> read(const std::string& path) {
  std::ifstream file(path);
  std::vector<Word> words;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string word;
    fields >> word;
    words.push_back({letters_of(word), {}});
    for (std::string phone; fields >> phone;) words.back().phones.push_back(phone);
  }
  return words;
}

struct Speller {
  static constexpr unsigned kFrames = 3;  // of a letter, which so may have three phones

  ParameterCollection model;
  Dict letters, phones;  // phone 0 is the blank
  LookupParameter table;
  BiRNNBuilder<VanillaLSTMBuilder> lstm{2, 48, 192, model};
  Parameter W, b;

  explicit Speller(const std::vector<Word>& words) {
    letters.convert("?");
    phones.convert("-");
    for (const Word& w : words) {
      for (const std::string& letter : w.letters) letters.convert(letter);
      for (const std::string& phone : w.phones) phones.convert(phone);
    }
    letters.freeze();
    letters.set_unk("?");
    phones.freeze();
    const auto size = static_cast<unsigned>(phones.size());
    table = model.add_lookup_parameters(static_cast<unsigned>(letters.size()), {48});
    W = model.add_parameters({kFrames * size, 192});
    b = model.add_parameters({kFrames * size}, ParameterInitConst(0));
  }

  // Log-probabilities of the phones, a column for each frame.
  Expression operator()(ComputationGraph& cg, const Word& word, float drop) {
    std::vector<Expression> xs;
    for (const std::string& letter : word.letters)
      xs.push_back(lookup(cg, table, static_cast<unsigned>(letters.convert(letter))));
    xs = lstm.transduce(xs);
    for (Expression& x : xs) {
      if (drop > 0) x = dropout(x, drop);
      x = reshape(affine_transform({parameter(cg, b), parameter(cg, W), x}),
                  {static_cast<unsigned>(phones.size()), kFrames});
    }
    return log_softmax(concatenate_cols(xs));
  }

  Expression loss(ComputationGraph& cg, const Word& word) {
    std::vector<unsigned> labels;
    for (const std::string& phone : word.phones)
      labels.push_back(static_cast<unsigned>(phones.convert(phone)));
    return ctc_loss((*this)(cg, word, 0.3f), labels, {.blank = 0, .zero_infinity = true});
  }
};

}  // namespace

int main(int argc, char** argv) {
  constexpr double kBound = 0.1;  // of the words of the test that are not wholly right
  const bool invented = argc != 3;
  std::vector<Word> train, test;
  if (invented) {
    std::mt19937 random(1);
    for (int k = 0; k < 600; ++k) train.push_back(invent(random));
    for (int k = 0; k < 100; ++k) test.push_back(invent(random));
  } else {
    train = read(argv[1]);
    test = read(argv[2]);
  }

  Speller speller(train);
  AdamTrainer trainer(speller.model, 0.002f);
  std::mt19937 random(2);
  const int epochs = invented ? 8 : 40;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::shuffle(train.begin(), train.end(), random);
    float sum = 0;
    for (std::size_t begin = 0; begin < train.size(); begin += 16) {
      ComputationGraph cg;
      speller.lstm.new_graph(cg);
      std::vector<Expression> losses;
      for (std::size_t i = begin; i < std::min(begin + 16, train.size()); ++i)
        losses.push_back(speller.loss(cg, train[i]));
      Expression loss = average(losses);
      sum += as_scalar(cg.forward(loss));
      cg.backward(loss);
      trainer.update();
    }
    trainer.learning_rate *= 0.93f;
    if (epoch + 1 == epochs) std::cout << "loss " << sum / (float(train.size()) / 16) << '\n';
  }

  // The beam sums over the alignments of each answer; the best symbol of each frame does not.
  const CtcDecoder decoder({.width = 8});
  unsigned wrong = 0;
  for (const Word& word : test) {
    ComputationGraph cg;
    speller.lstm.new_graph(cg);
    Symbols said;
    for (const unsigned phone : decoder.best(speller(cg, word, 0)))
      said.push_back(speller.phones.convert(static_cast<int>(phone)));
    wrong += said != word.phones;
  }
  const double rate = double(wrong) / double(test.size());
  std::cout << 100 * rate << " % of " << test.size() << " words are wrong\n";
  if (!invented || rate < kBound) return 0;
  std::cerr << "That is not below " << 100 * kBound << " %.\n";
  return 1;
}
