// Vectors of words that are made of their characters.

#include "examples/nlp/common/characters.h"

#include "examples/nlp/common/vocabulary.h"
#include "tests/support/prelude.h"

namespace characters_test {

using namespace nlp;
using Numbers = std::vector<unsigned>;
using Kind = CharacterEncoder::Kind;

TEST_CASE("Characters of UTF-8") {
  CHECK(characters_of("").empty());
  CHECK(characters_of("caf\xC3\xA9s") == Strings{"c", "a", "f", "\xC3\xA9", "s"});
  CHECK(characters_of("\xE2\x82\xAC\xF0\x9F\x98\x80") ==
        Strings{"\xE2\x82\xAC", "\xF0\x9F\x98\x80"});
}

TEST_CASE("Characters that come once share a vector") {
  const Strings known = known_characters({{"a", 3}, {"b", 1}, {"c", 2}});
  CHECK(known == Strings{kUnknown, "<end>", "a", "c"});
  CHECK(character_numbers("abcz", make_dict(known)) == Numbers{2, 0, 3, 0});
}

TEST_CASE("Every character of a word counts, and where it stands") {
  for (const Kind kind : {Kind::kLstm, Kind::kCnn})
    for (const unsigned size : {1u, 5u, 6u}) {
      dynet::ParameterCollection parameters;
      CharacterEncoder encoder(kind, size, 8, parameters);
      ComputationGraph graph;
      encoder.begin_graph(graph);
      std::vector<Floats> seen;
      for (const Numbers& word : {Numbers{2}, {3}, {2, 3}, {3, 2}, {2, 3, 4, 5}, {2, 4, 3, 5}}) {
        const Expression vector = encoder.encode(word);
        REQUIRE(vector.dim() == dynet::Dim({size}));
        seen.push_back(values(vector));
        for (std::size_t i = 0; i + 1 < seen.size(); ++i) CHECK(seen[i] != seen.back());
        CHECK(encoder.encode(word).i == vector.i);  // it is read once
      }
    }
}

TEST_CASE("Gradients reach the characters") {
  for (const Kind kind : {Kind::kLstm, Kind::kCnn}) {
    dynet::ParameterCollection parameters;
    CharacterEncoder encoder(kind, 4, 6, parameters);
    ComputationGraph graph;
    encoder.begin_graph(graph);
    std::vector<Expression> words;
    for (const Numbers& word : {Numbers{2}, {3, 4, 5}, {2, 2}})
      words.push_back(encoder.encode(word));
    check_slopes(squared_norm(sum(words)), kind == Kind::kLstm ? 1 + 2 * 3 : 1 + 4);
  }
}

}  // namespace characters_test
