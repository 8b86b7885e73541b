// Spelling to sound with CTC: labels without an alignment.
//
// The data do not align the letters of a word with its phones. Connectionist temporal
// classification (Graves et al. 2006) computes for every frame of the input, here three a letter, a
// distribution over phones and a blank. The output of a sequence of these omits repeats and blanks;
// ctc_loss sums over all sequences with the right output. The words are invented: "ch" is one
// phone, "x" two. Of two files (word, tab, phones with spaces) it learns one and reads the other.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>

#include "dynet-like/dynet.h"
#include "dynet-like/io/dict.h"
#include "dynet-like/structures/ctc/ctc_decoding.h"

using namespace dynet;

namespace {

constexpr unsigned kFrames = 3;  // per letter, so that a letter may have three phones

struct Word {
  std::vector<int> letters, phones;
};

struct Words {
  Dict letters, phones;
  Words() { phones.convert("-"); }  // the blank is number 0

  std::vector<Word> read(std::istream&& file) {
    std::vector<Word> words;
    for (std::string line, spelling, letter, phone; std::getline(file, line);) {
      std::istringstream fields(line);
      fields >> spelling;
      Word& word = words.emplace_back();
      for (std::size_t i = 0; i < spelling.size(); ++i) {  // UTF-8 characters
        letter += spelling[i];
        if (i + 1 < spelling.size() && (spelling[i + 1] & 0xC0) == 0x80) continue;
        word.letters.push_back(letters.convert(std::exchange(letter, "")));
      }
      while (fields >> phone) word.phones.push_back(phones.convert(phone));
    }
    return words;
  }
};

std::stringstream invent(unsigned count, std::mt19937& random) {
  const std::pair<const char*, const char*> parts[] = {
      {"a", " a"}, {"ae", " e:"}, {"c", " k"}, {"ch", " tS"}, {"x", " k s"}};
  std::stringstream lines;
  for (unsigned k = 0; k < count; ++k) {
    std::string spelling, sounds;
    for (unsigned n = 1 + random() % 8; n > 0; --n) {
      const auto& [letters, phones] = parts[random() % 5];
      spelling += letters;
      sounds += phones;
    }
    lines << spelling << '\t' << sounds << '\n';
  }
  return lines;
}

std::stringstream file(const char* path) {
  return std::stringstream((std::ostringstream() << std::ifstream(path).rdbuf()).str());
}

}  // namespace

int main(int argc, char** argv) {
  constexpr double kBound = 0.1;  // bound of the share of words with an error
  std::mt19937 random(1);
  Words words;
  const bool invented = argc != 3;
  std::vector<Word> train = words.read(invented ? invent(600, random) : file(argv[1]));
  std::vector<Word> test = words.read(invented ? invent(100, random) : file(argv[2]));

  ParameterCollection model;
  const unsigned size = words.phones.size();
  LookupParameter table = model.add_lookup_parameters(words.letters.size(), {48});
  BiRNNBuilder<VanillaLSTMBuilder> lstm(2, 48, 192, model);
  Linear output(model, {192, kFrames * size});
  const auto log_probs = [&](ComputationGraph& cg, const Word& word, float drop) {
    std::vector<Expression> xs;
    for (const int letter : word.letters) xs.push_back(lookup(cg, table, unsigned(letter)));
    xs = lstm.transduce(xs);
    for (Expression& x : xs) x = reshape(output.apply(dropout(x, drop)), {size, kFrames});
    return log_softmax(concatenate_cols(xs));
  };

  AdamTrainer trainer(model, 0.002f);
  for (int epoch = 0; epoch < (invented ? 8 : 40); ++epoch, trainer.learning_rate *= 0.93f) {
    std::shuffle(train.begin(), train.end(), random);
    for (std::size_t i = 0; i < train.size();) {
      ComputationGraph cg;
      lstm.new_graph(cg), output.new_graph(cg);
      std::vector<Expression> losses;
      for (const std::size_t end = std::min(i + 16, train.size()); i < end; ++i) {
        const std::vector<unsigned> labels(train[i].phones.begin(), train[i].phones.end());
        losses.push_back(ctc_loss(log_probs(cg, train[i], 0.3f), labels, {.zero_infinity = true}));
      }
      cg.backward(average(losses));
      trainer.update();
    }
  }

  unsigned wrong = 0;
  for (const Word& word : test) {
    ComputationGraph cg;
    lstm.new_graph(cg), output.new_graph(cg);
    const std::vector<unsigned> said = CtcDecoder().best(log_probs(cg, word, 0));
    wrong += !std::equal(said.begin(), said.end(), word.phones.begin(), word.phones.end());
  }
  std::cout << 100.0 * wrong / test.size() << " % of " << test.size() << " words are wrong\n";
  return invented && wrong > kBound * test.size();
}
