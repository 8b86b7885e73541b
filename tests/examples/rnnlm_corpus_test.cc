// Input of the language model: lines to tokens and back, vocabularies, minibatches.

#include "examples/nlp/rnnlm/corpus.h"
#include "tests/examples/helpers.h"

namespace rnnlm_corpus_test {

using namespace rnnlm;

constexpr ReadOptions kWords{Format::kText, Level::kWord, false};
constexpr ReadOptions kVerses{Format::kBible, Level::kWord, false};
constexpr ReadOptions kCharacters{Format::kText, Level::kChar, false};

Corpus read(const std::string& text, ReadOptions options = {}) {
  std::istringstream in(text);
  return read_corpus(in, "data.txt", options);
}

std::string error_of(const std::string& text, ReadOptions options = {}) {
  return error_from([&] { read(text, options); });
}

TEST_CASE("Rnnlm: words are what spaces separate") {
  const Corpus corpus = read("\xEF\xBB\xBFThe cat,  sat .\r\n\n \n<unk> = 1\n");
  REQUIRE(corpus.size() == 2);
  CHECK(corpus[0].tokens == Strings{"The", "cat,", "sat", "."});
  CHECK(corpus[0].words == 5);
  CHECK(corpus[0].characters == 15);  // "The cat, sat ." and its end
  CHECK(corpus[1].tokens == Strings{"<unk>", "=", "1"});
  CHECK(count_words(corpus) == 9);
  CHECK(text_of(corpus[0].tokens, kWords) == "The cat, sat .");
}

TEST_CASE("Rnnlm: marks of verses are tokens, hyphens and apostrophes inside words are not") {
  ReadOptions options;
  std::istringstream in("Ge1:1 (For the LORD's sake;) Beth-el--and sons' \n");
  const Corpus corpus = read_corpus(in, "data.txt", options);
  CHECK(options.format == Format::kBible);
  REQUIRE(corpus.size() == 1);
  const Strings tokens = {"(", "For",     "the", "LORD's", "sake", ";",
                          ")", "Beth-el", "-",   "-",      "and",  "sons'"};
  CHECK(corpus[0].tokens == tokens);
  const std::string text = "(For the LORD's sake;) Beth-el--and sons'";
  CHECK(text_of(tokens, kVerses) == text);
  CHECK(corpus[0].words == tokens.size() + 1);
  CHECK(corpus[0].characters == text.size() + 1);
}

TEST_CASE("Rnnlm: characters are code points, and bytes that are none") {
  const Sentence sentence =
      read_sentence("a \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xFF\xC3 ", kCharacters);
  CHECK(sentence.tokens ==
        Strings{"a", " ", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xFF", "\xC3"});
  CHECK(sentence.characters == 8);
  CHECK(sentence.words == 3);
  CHECK(text_of(sentence.tokens, kCharacters) == "a \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xFF\xC3");
}

TEST_CASE("Rnnlm: a text has as many words and characters at either level") {
  for (const Format format : {Format::kText, Format::kBible}) {
    const std::string line = "Ps23:1 The LORD is my shepherd; (I shall not want.)";
    const Sentence words = read_sentence(line, {format, Level::kWord, false});
    const Sentence characters = read_sentence(line, {format, Level::kChar, false});
    CHECK(words.words == characters.words);
    CHECK(words.characters == characters.characters);
  }
}

TEST_CASE("Rnnlm: lower case, if wanted") {
  CHECK(read_sentence("The CAT \xC3\x89", {Format::kText, Level::kWord, true}).tokens ==
        Strings{"the", "cat", "\xC3\x89"});
}

TEST_CASE("Rnnlm: files that are no corpus") {
  CHECK(error_of("Ge1:1 In the beginning.\nGenesis 2\n") ==
        "data.txt:2: expected a verse such as 'Ge1:1 In the beginning ...', found 'Genesis 2'");
  CHECK(error_of("Ge1:1 \n") == "data.txt:1: expected words, found 'Ge1:1 '");
  CHECK(contains(error_from([] { format_from_name("xml"); }), "unknown format 'xml'"));
}

TEST_CASE("Rnnlm: the vocabulary goes by frequency, then by first appearance") {
  const Corpus corpus = read("b a a </s>\nc a b <unk> </s>\nd\n");
  CHECK(collect_tokens(corpus, 1) == Strings{"</s>", "<unk>", "a", "b", "c", "d"});
  CHECK(collect_tokens(corpus, 2) == Strings{"</s>", "<unk>", "a", "b"});
  const Vocabulary vocabulary(collect_tokens(corpus, 2));
  CHECK(vocabulary.size() == 4);
  CHECK(vocabulary.encode(corpus[1]) ==
        Ids{Vocabulary::kUnknown, 2, 3, Vocabulary::kUnknown, Vocabulary::kUnknown});
  CHECK(vocabulary.token(3) == "b");
}

TEST_CASE("Rnnlm: a minibatch is padded with ends that do not count") {
  const Ids two = {5, 6}, none = {};
  const Minibatch batch({&two, &none});
  CHECK(batch.size() == 2);
  CHECK(batch.steps() == 3);
  CHECK(batch.tokens() == 4);
  CHECK(batch.inputs(0) == Ids{0, 0});
  CHECK(batch.inputs(1) == Ids{5, 0});
  CHECK(batch.inputs(2) == Ids{6, 0});
  CHECK(batch.targets(0, 3) == Ids{5, 0, 6, 0, 0, 0});
  CHECK(batch.targets(1, 2) == Ids{6, 0});
  CHECK(batch.mask(0, 3) == Floats{1, 1, 1, 0, 1, 0});
}

TEST_CASE("Rnnlm: minibatches hold every sentence once and keep their limits") {
  std::vector<Ids> sentences;
  for (std::size_t i = 0; i < 100; ++i)
    sentences.emplace_back(i * 37 % 50 + (i == 7 ? 200 : 0), 2u);
  std::vector<std::size_t> order(sentences.size());
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  std::multiset<std::size_t> seen;
  std::size_t shortest = 0, alone = 0;
  for (const auto& places : batches_of(sentences, order, {8, 100})) {
    std::vector<const Ids*> batch;
    for (std::size_t place : places) {
      seen.insert(place);
      batch.push_back(&sentences[place]);
      CHECK(sentences[place].size() >= shortest);
      shortest = sentences[place].size();
    }
    const Minibatch minibatch(batch);
    CHECK(minibatch.size() <= 8);
    if (minibatch.size() == 1) {
      ++alone;
    } else {
      CHECK(minibatch.size() * minibatch.steps() <= 100);
    }
  }
  CHECK(alone >= 1);  // the long one
  CHECK(seen.size() == 100);
  CHECK(std::set<std::size_t>(seen.begin(), seen.end()).size() == 100);
}

TEST_CASE("Rnnlm: the real data sets are read whole") {
  const std::string data = data_folder("wikitext2 and shakespeare");
  if (data.empty()) return;
  ReadOptions words;
  const Corpus wiki = read_corpus(data + "/wikitext2/valid.txt", words);
  CHECK(words.format == Format::kText);
  // 217,646 tokens with one end for each of the lines, of which the blank ones are left out here.
  CHECK(wiki.size() == 2461);
  CHECK(count_words(wiki) == 217646 - (3760 - 2461));
  ReadOptions characters = kCharacters;
  const Corpus plays = read_corpus(data + "/shakespeare/input.txt", characters);
  std::set<std::string> distinct;
  std::size_t count = 0;
  for (const Sentence& line : plays) {
    count += line.characters;
    distinct.insert(line.tokens.begin(), line.tokens.end());
  }
  CHECK(distinct.size() == 64);                          // 65 with the ends of lines
  CHECK(count == 1115394 - (40000 - plays.size()) - 4);  // blank lines, spaces that end a line
}

}  // namespace rnnlm_corpus_test
