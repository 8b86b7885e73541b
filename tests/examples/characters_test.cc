// Vectors of words that are made of their characters.

#include "examples/nlp/common/characters.h"

#include <string>
#include <vector>

#include "dynet-like/run/grad_check.h"
#include "examples/nlp/common/vocabulary.h"
#include "tests/support/catch.h"

namespace characters_test {

using namespace nlp;
using dynet::Expression;
using Texts = std::vector<std::string>;
using Numbers = std::vector<unsigned>;
using Kind = CharacterEncoder::Kind;

TEST_CASE("Characters of UTF-8") {
  CHECK(characters_of("").empty());
  CHECK(characters_of("caf\xC3\xA9s") == Texts{"c", "a", "f", "\xC3\xA9", "s"});
  CHECK(characters_of("\xE2\x82\xAC\xF0\x9F\x98\x80") == Texts{"\xE2\x82\xAC", "\xF0\x9F\x98\x80"});
}

TEST_CASE("Characters that come once share a vector") {
  const Texts known = known_characters({{"a", 3}, {"b", 1}, {"c", 2}});
  CHECK(known == Texts{kUnknown, "<end>", "a", "c"});
  CHECK(character_numbers("abcz", make_dict(known)) == Numbers{2, 0, 3, 0});
}

TEST_CASE("Every character of a word counts, and where it stands") {
  for (const Kind kind : {Kind::kLstm, Kind::kCnn})
    for (const unsigned size : {1u, 5u, 6u}) {
      dynet::ParameterCollection parameters;
      CharacterEncoder encoder(kind, size, 8, parameters);
      dynet::ComputationGraph graph;
      encoder.begin_graph(graph);
      std::vector<std::vector<float>> seen;
      for (const Numbers& word : {Numbers{2}, {3}, {2, 3}, {3, 2}, {2, 3, 4, 5}, {2, 4, 3, 5}}) {
        const Expression vector = encoder.encode(word);
        REQUIRE(vector.dim() == dynet::Dim({size}));
        seen.push_back(as_vector(vector.value()));
        for (std::size_t i = 0; i + 1 < seen.size(); ++i) CHECK(seen[i] != seen.back());
        CHECK(encoder.encode(word).i == vector.i);  // it is read once
      }
    }
}

TEST_CASE("Gradients reach the characters") {
  for (const Kind kind : {Kind::kLstm, Kind::kCnn}) {
    dynet::ParameterCollection parameters;
    CharacterEncoder encoder(kind, 4, 6, parameters);
    dynet::ComputationGraph graph;
    encoder.begin_graph(graph);
    std::vector<Expression> words;
    for (const Numbers& word : {Numbers{2}, {3, 4, 5}, {2, 2}})
      words.push_back(encoder.encode(word));
    const dynet::GradientReport report = dynet::check_gradients(squared_norm(sum(words)));
    INFO(report);
    CHECK(report.ok());
    CHECK(report.parameters == (kind == Kind::kLstm ? 1 + 2 * 3 : 1 + 4));
  }
}

}  // namespace characters_test
