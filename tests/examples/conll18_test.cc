// Scores by the rules of CoNLL 2018. The expected counts are those of the shared task's own script,
// conll18_ud_eval.py.

#include "examples/nlp/common/conll18.h"

#include "examples/nlp/common/tokenizer.h"
#include "tests/examples/helpers.h"

namespace conll18_test {

using namespace nlp;
using nlp::conllu::Sentence;

/// Words as "id form upos head label lemma feats", of which the last two may be missing, with '/'
/// between them and ';' between sentences.
std::vector<Sentence> sentences(const std::string& text) {
  std::vector<Sentence> all;
  for (const std::string& sentence : split_fields(text, ';')) {
    Strings lines;
    for (const std::string& word : split_fields(sentence, '/')) {
      Strings f = split_words(word);
      if (f.size() == 2) f.insert(f.end(), 3, "_");
      f.resize(7, "_");
      lines.push_back(join({f[0], f[1], f[5], f[2], "x" + f[2], f[6], f[3], f[4], "_", "_"}, "\t"));
    }
    all.emplace_back(lines, LineRange{0, lines.size()}, "file");
  }
  return all;
}

using Counts = std::array<std::size_t, 3>;
/// Items of the right file, of the other one, and those that are the same.
Counts counts(const FoundItems& items) { return {items.gold, items.system, items.correct}; }

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
  CHECK(conll18_scores(gold, gold).las.f1() == 1.0);
}

TEST_CASE("CoNLL 2018: lemmas, and features of which only universal ones count") {
  const auto gold = sentences(
      "1 a DET 2 det a Definite=Ind|Foo=x|PronType=Art/2 cats NOUN 0 root cat Number=Plur/3 ran "
      "VERB "
      "2 dep _ _");
  const auto system = sentences(
      "1 a DET 2 det A PronType=Art|Definite=Ind/2 cats NOUN 0 root cats Case=Nom|Number=Plur/3 "
      "ran "
      "X 2 dep run Foo=y");
  const Conll18Scores scores = conll18_scores(gold, system);
  CHECK(counts(scores.lemmas) == Counts{3, 3, 1});
  CHECK(counts(scores.ufeats) == Counts{3, 3, 2});
  CHECK(counts(scores.all_tags) == Counts{3, 3, 1});
  CHECK(counts(scores.mlas) == Counts{2, 2, 0});
  CHECK(counts(scores.blex) == Counts{2, 2, 1});
}

TEST_CASE("CoNLL 2018: MLAS counts the function words of a content word, BLEX its lemma") {
  const std::string words =
      "1 the DET 2 det the _/2 cat NOUN 3 nsubj cat _/3 sat VERB 0 root sit _/4 ! X 3 punct";
  const auto gold = sentences(words);
  using Found = std::array<std::size_t, 3>;
  // Counts of a file with another word or two.
  const auto found = [&](const std::vector<std::pair<std::string, std::string>>& changes) {
    std::string other = words;
    for (const auto& [from, to] : changes) other.replace(other.find(from), from.size(), to);
    const Conll18Scores scores = conll18_scores(gold, sentences(other));
    return Found{scores.clas.correct, scores.mlas.correct, scores.blex.correct};
  };
  CHECK(found({{"the DET", "the X"}}) == Found{2, 1, 2});
  CHECK(found({{"det the _", "det the Case=Nom"}}) == Found{2, 1, 2});
  CHECK(found({{"2 det", "2 aux"}}) == Found{2, 1, 2});
  CHECK(found({{"2 det", "3 det"}}) == Found{2, 0, 2});
  CHECK(found({{"cat NOUN", "cat X"}, {"sit _", "sat Case=Nom"}}) == Found{2, 0, 1});
}

TEST_CASE(
    "CoNLL 2018: the share of aligned words that are correct, of content words by the gold label") {
  const auto gold = sentences("1 ab X 2 nsubj/2 cd X 0 root/3 e X 2 case");
  const Conll18Scores scores =
      conll18_scores(gold, sentences("1 a X 3 nsubj/2 b X 3 obj/3 cd X 0 root/4 e X 3 obj"));
  CHECK(scores.uas.aligned == 2);
  CHECK(counts(scores.clas) == Counts{2, 4, 1});
  CHECK(scores.clas.aligned == 1);
  CHECK(scores.tokens.aligned == 0);
}

TEST_CASE("CoNLL 2018: other words over the same characters") {
  const auto gold = sentences("1 ab X 2 dep/2 cd X 0 root/3 e X 2 dep;1 f X 0 root");
  const auto system = sentences("1 ab X 2 dep/2 cde X 0 root/3 f X 2 dep");
  const Conll18Scores scores = conll18_scores(gold, system);
  CHECK(counts(scores.tokens) == Counts{4, 3, 2});
  CHECK(counts(scores.sentences) == Counts{2, 1, 0});
  CHECK(counts(conll18_scores(gold, gold).sentences) == Counts{2, 2, 2});
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
  SECTION("whatever the case of their letters") {
    if (!has_tokenizer()) return skip("the program was built without ICU");
    const auto one = sentences("1-2 \u00c0b/1 \u00e0 X 0 root/2 b X 1 dep");
    const auto other = sentences("1-2 \u00c0b/1 \u00c0 X 0 root/2 b X 1 dep");
    CHECK(counts(conll18_scores(one, other).words) == Counts{2, 2, 2});
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
  // A head that is missing is not right.
  CHECK(counts(conll18_scores(gold, sentences("1 ab X _ _")).uas) == Counts{1, 1, 0});
  CHECK(counts(conll18_scores(sentences("1 ab X _ _"), sentences("1 ab X _ _")).las) ==
        Counts{1, 1, 0});
  // A space within a word is none of the text.
  CHECK(counts(conll18_scores(gold, sentences("1 a\u00a0b X 0 root")).words) == Counts{1, 1, 1});
}

}  // namespace conll18_test
