// The n-gram model that the language model is compared with.

#include "dynet-like/io/dict.h"
#include "dynet-like/io/save.h"
#include "examples/nlp/rnnlm/ngram.h"
#include "tests/examples/helpers.h"

namespace rnnlm_ngram_test {

using namespace rnnlm;

TEST_CASE("Rnnlm: Witten-Bell by hand") {
  // Vocabulary </s> <unk> a b; training "a b" and "a".
  const std::vector<Ids> train = {{2, 3}, {2}};
  const double uniform = 0.25;
  // Without history: a 2, b 1, </s> 2 of 5, three types.
  const double a = (2 + 3 * uniform) / 8, b = (1 + 3 * uniform) / 8, end = (2 + 3 * uniform) / 8;
  const double unknown = 3 * uniform / 8;
  CHECK(Ngram(1, 4, train).loss({2, 3}) == Approx(-std::log(a * b * end)));
  CHECK(Ngram(1, 4, train).loss({1}) == Approx(-std::log(unknown * end)));
  // After </s>: a 2 of 2, one type. After a: b 1, </s> 1, two types. After b: </s> 1, one type.
  const double a_first = (2 + a) / 3, b_after_a = (1 + 2 * b) / 4, end_after_b = (1 + end) / 2;
  CHECK(Ngram(2, 4, train).loss({2, 3}) == Approx(-std::log(a_first * b_after_a * end_after_b)));
  // The history <unk> is new, so what follows it goes by the shorter history.
  CHECK(Ngram(2, 4, train).loss({1}) == Approx(-std::log(unknown / 3 * end)));
  // Order 3: after </s> </s> a 2 of 2.
  const double a_third = (2 + a_first) / 3;
  const double b_third = (1 + 2 * b_after_a) / 4, end_third = (1 + end_after_b) / 2;
  CHECK(Ngram(3, 4, train).loss({2, 3}) == Approx(-std::log(a_third * b_third * end_third)));
}

TEST_CASE("Rnnlm: n-gram probabilities of all sentences sum to one") {
  // Over sentences of up to five tokens; what is left are longer ones.
  const std::vector<Ids> train = {{2, 3, 2}, {3}, {2, 2}, {}, {3, 2, 3, 3}};
  for (const unsigned order : {1u, 2u, 3u, 4u}) {
    const Ngram ngram(order, 4, train);
    std::vector<Ids> sentences = {{}};
    double sum = 0, longest = 0;
    for (std::size_t length = 0; length <= 5; ++length) {
      std::vector<Ids> longer;
      longest = 0;
      for (const Ids& sentence : sentences) {
        sum += std::exp(-ngram.loss(sentence));
        longest += std::exp(-ngram.loss(sentence));
        for (unsigned token = 1; token < 4; ++token) {
          longer.push_back(sentence);
          longer.back().push_back(token);
        }
      }
      sentences = longer;
    }
    INFO(order);
    CHECK(sum < 1);
    CHECK(sum + 3 * longest > 1);
    CHECK(sum > 0.8);
  }
}

TEST_CASE("Rnnlm: n-grams come back from a file") {
  const TemporaryFolder folder;
  const Ngram ngram(3, 5, {{2, 3, 4, 2, 3}, {4, 4, 2}});
  dynet::save(folder.path("ngram"), ngram);
  Ngram loaded;
  dynet::load(folder.path("ngram"), loaded);
  CHECK(loaded.order() == 3);
  for (const Ids& sentence : {Ids{}, Ids{2, 3, 4}, Ids{1, 4, 4, 1}}) {
    CHECK(loaded.loss(sentence) == ngram.loss(sentence));
  }
}

TEST_CASE("Rnnlm: the trigram perplexity of the King James text is the known one") {
  // Every twentieth verse; lower case; words seen once are unknown.
  std::istringstream text(king_james_text());
  if (text.str().empty()) return;
  ReadOptions options{Format::kBible, Level::kWord, true};
  Corpus train, test;
  std::size_t number = 0;
  for (Sentence& sentence : read_corpus(text, "kjv", options)) {
    ++number;
    if (number % 20 == 0) {
      test.push_back(std::move(sentence));
    } else if (number % 20 != 19) {
      train.push_back(std::move(sentence));
    }
  }
  const Vocabulary vocabulary(collect_tokens(train, 2));
  CHECK(vocabulary.size() == 8388);
  std::vector<Ids> sentences;
  for (const Sentence& sentence : train) sentences.push_back(vocabulary.encode(sentence));
  const Ngram ngram(3, vocabulary.size(), sentences);
  double loss = 0;
  std::size_t tokens = 0;
  for (const Sentence& sentence : test) {
    loss += ngram.loss(vocabulary.encode(sentence));
    tokens += sentence.tokens.size() + 1;
  }
  CHECK(std::exp(loss / static_cast<double>(tokens)) == Approx(48.7).margin(0.05));
}

}  // namespace rnnlm_ngram_test
