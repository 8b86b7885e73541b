// Scores by the rules of CoNLL 2018. The expected counts are those of the shared task's own script,
// conll18_ud_eval.py.

#include "examples/nlp/parser/conll18.h"

#include <array>
#include <string>
#include <vector>

#include "examples/nlp/common/text.h"
#include "tests/examples/helpers.h"
#include "tests/support/catch.h"

namespace conll18_test {

using namespace parser;
using nlp::conllu::Sentence;

namespace {

/// Words as "id form upos head label", with '/' between them and ';' between sentences.
std::vector<Sentence> sentences(const std::string& text) {
  std::vector<Sentence> all;
  for (const std::string& sentence : nlp::split_fields(text, ';')) {
    std::vector<std::string> lines;
    for (const std::string& word : nlp::split_fields(sentence, '/')) {
      const std::vector<std::string> f = nlp::split_words(word);
      lines.push_back(f.size() == 2 ? f[0] + "\t" + f[1] + "\t_\t_\t_\t_\t_\t_\t_\t_"
                                    : f[0] + "\t" + f[1] + "\t_\t" + f[2] + "\tx" + f[2] + "\t_\t" +
                                          f[3] + "\t" + f[4] + "\t_\t_");
    }
    all.emplace_back(lines, nlp::LineRange{0, lines.size()}, "file");
  }
  return all;
}

using Counts = std::array<std::size_t, 3>;
/// Items of the right file, of the other one, and those that are the same.
Counts counts(const FoundItems& items) { return {items.gold, items.system, items.correct}; }

}  // namespace

TEST_CASE("CoNLL 2018: the right file has all right") {
  const auto gold = sentences("1 A DET 2 det/2 cat NOUN 0 root;1 Go VERB 0 root");
  const Conll18Scores scores = conll18_scores(gold, gold);
  CHECK(counts(scores.tokens) == Counts{3, 3, 3});
  CHECK(counts(scores.sentences) == Counts{2, 2, 2});
  CHECK(counts(scores.las) == Counts{3, 3, 3});
  CHECK(counts(scores.clas) == Counts{2, 2, 2});
  CHECK(scores.las.f1() == 1.0);
}

TEST_CASE("CoNLL 2018: tags, heads and labels, of which the subtype does not count") {
  const auto gold = sentences(
      "1 A DET 2 det/2 cat NOUN 3 nsubj:pass/3 is VERB 0 root/4 here ADV 3 advmod/5 now ADV 3 "
      "advmod");
  const auto system = sentences(
      "1 A DET 2 det/2 cat VERB 3 nsubj/3 is VERB 0 root/4 here ADV 2 advmod/5 now ADV 3 obl");
  const Conll18Scores scores = conll18_scores(gold, system);
  CHECK(counts(scores.upos) == Counts{5, 5, 4});
  CHECK(counts(scores.xpos) == Counts{5, 5, 4});
  CHECK(counts(scores.uas) == Counts{5, 5, 4});
  CHECK(counts(scores.las) == Counts{5, 5, 3});
  CHECK(counts(scores.clas) == Counts{4, 4, 2});
}

TEST_CASE("CoNLL 2018: other words over the same characters") {
  const auto gold = sentences("1 ab X 2 dep/2 cd X 0 root/3 e X 2 dep;1 f X 0 root");
  const auto system = sentences("1 ab X 2 dep/2 cde X 0 root/3 f X 2 dep");
  const Conll18Scores scores = conll18_scores(gold, system);
  CHECK(counts(scores.tokens) == Counts{4, 3, 2});
  CHECK(counts(scores.sentences) == Counts{2, 1, 0});
  CHECK(counts(scores.words) == Counts{4, 3, 2});
  CHECK(counts(scores.uas) ==
        Counts{4, 3, 0});  // the head of "ab" is no word of the other file, "f" is no root there
}

TEST_CASE("CoNLL 2018: words of multiword tokens are matched by their forms") {
  const auto gold = sentences("1-2 DEL/1 de X 3 case/2 el X 3 det/3 mar X 0 root");
  SECTION("in both files") {
    const auto system = sentences("1-2 DEL/1 De X 3 case/2 l X 3 det/3 mar X 0 root");
    const Conll18Scores scores = conll18_scores(gold, system);
    CHECK(counts(scores.tokens) == Counts{2, 2, 2});
    CHECK(counts(scores.words) == Counts{3, 3, 2});
    CHECK(counts(scores.las) == Counts{3, 3, 2});
  }
  SECTION("in one file") {
    const auto system = sentences("1 DEL X 2 case/2 mar X 0 root");
    const Conll18Scores scores = conll18_scores(gold, system);
    CHECK(counts(scores.tokens) == Counts{2, 2, 2});
    CHECK(counts(scores.words) == Counts{3, 2, 1});
    CHECK(counts(scores.las) == Counts{3, 2, 1});
    CHECK(counts(conll18_scores(system, gold).words) == Counts{2, 3, 1});
  }
  SECTION("with a word over their end, which is none of theirs") {
    const auto one = sentences("1-2 abc/1 ab X 0 root/2 cd X 1 dep/3 d X 1 dep");
    const auto other = sentences("1 ab X 0 root/2 cd X 1 dep");
    const Conll18Scores scores = conll18_scores(one, other);
    CHECK(counts(scores.tokens) == Counts{2, 2, 0});
    CHECK(counts(scores.words) == Counts{3, 2, 1});
    CHECK(counts(conll18_scores(other, one).words) == Counts{2, 3, 1});
  }
  SECTION("that overlap others") {
    const auto system = sentences("1 DE X 2 case/2-3 Lmar/2 el X 0 root/3 mar X 2 dep");
    const Conll18Scores scores = conll18_scores(gold, system);
    CHECK(counts(scores.tokens) == Counts{2, 2, 0});
    CHECK(counts(scores.words) == Counts{3, 3, 3});
    CHECK(counts(scores.uas) == Counts{3, 3, 0});
  }
}

TEST_CASE("CoNLL 2018: what cannot be compared") {
  const auto gold = sentences("1 ab X 0 root");
  CHECK(error_from([&] { conll18_scores(gold, sentences("1 ac X 0 root")); }) ==
        "the two files have other characters: 'b' in the right one is 'c' in the other");
  CHECK(error_from([&] { conll18_scores(gold, sentences("1 ab X 2 root")); }) ==
        "file:1: expected a word number from 0 to 1 in column 7, HEAD, found '2'");
  // A space within a word is none of the text.
  CHECK(counts(conll18_scores(gold, sentences("1 a\u00a0b X 0 root")).words) == Counts{1, 1, 1});
}

}  // namespace conll18_test
