// Text to words and tags, and back.

#include "examples/nlp/tagger/kingjames.h"

#include <random>
#include <string>
#include <vector>

#include "examples/nlp/common/files.h"
#include "examples/nlp/common/text.h"
#include "tests/examples/helpers.h"
#include "tests/support/catch.h"

namespace kingjames_test {

using namespace nlp;
using namespace tagger;
using tagger::annotate;

namespace {

using Words = std::vector<std::string>;

std::string there_and_back(const std::string& text) {
  const Sentence sentence = annotate(text);
  return restore(sentence.words, sentence.tags);
}

std::string with_single_spaces(const std::string& text) { return join(split_words(text), " "); }

}  // namespace

TEST_CASE("Case and marks of a verse") {
  const Sentence verse = annotate("And God said, Let there be light: and there was light.");
  CHECK(verse.words ==
        Words{"and", "god", "said", "let", "there", "be", "light", "and", "there", "was", "light"});
  CHECK(verse.tags == Words{"Title", "Title", "lower,", "Title", "lower", "lower",
                            "lower:", "lower", "lower", "lower", "lower."});
}

TEST_CASE("Brackets, capitals, apostrophes, missing and spare spaces") {
  CHECK(annotate("(for the LORD's sake;) He").tags ==
        Words{"(lower", "lower", "UPPER", "lower;)", "Title"});
  CHECK(annotate("fear thy God:for I am").tags ==
        Words{"lower", "lower", "Title:+", "lower", "Title", "lower"});
  CHECK(annotate("accounted of ?").tags == Words{"lower", "lower_?"});
  CHECK(annotate("EleloheIsrael").tags == Words{"caps-0-7"});
  CHECK(annotate("sons' loving-kindness--;").words == Words{"sons'", "loving-kindness"});
  CHECK(annotate("sons' loving-kindness--;").tags == Words{"lower", "lower--;"});
  CHECK(annotate("  ").words.empty());
  CHECK(annotate("...").words.empty());
}

TEST_CASE("Words and tags give the text back") {
  for (const std::string text :
       {"In the beginning God created the heaven and the earth.", "(So it was;) and so on--; yes",
        "fear thy God:for I am the LORD's", "to be accounted of ?", "a 'quoted' word, 'tis said",
        "McDonald's 12-inch A4 <<x>> 1+1=2 a_b c|d",
        "\xC3\x84rger \xC3\xBC"
        "ber (\xC3\x96l)!?",
        "\"So?\" - \"No!\"", "A-B AB'c AB'C O 'TIS I"}) {
    INFO(text);
    CHECK(there_and_back(text) == text);
  }
  CHECK(there_and_back(" two  spaces\tand ends ") == "two spaces and ends");
}

TEST_CASE("Any text comes back") {
  std::mt19937 random(7);
  const std::string letters = "aAbBzZ09 ''--..,;:!?()  \"_+|\xC3\xA9";
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (unsigned length = random() % 30; length > 0; --length) {
      text += letters[random() % letters.size()];
    }
    const Sentence sentence = annotate(text);
    if (sentence.words.empty()) continue;
    INFO(text);
    REQUIRE(there_and_back(text) == with_single_spaces(text));
    for (const std::string& tag : sentence.tags) {
      REQUIRE(parse_tag(tag).casing != "");
      REQUIRE(tag.find_first_of(" |") == std::string::npos);
    }
  }
}

TEST_CASE("Tags fall into three parts") {
  const MarkedCase tag = parse_tag("(caps-0-7;)");
  CHECK(tag.before == "(");
  CHECK(tag.casing == "caps-0-7");
  CHECK(tag.after == ";)");
  CHECK(parse_tag("caps-0--;").after == "--;");
  CHECK(parse_tag("NOUN").casing.empty());
  CHECK(restore({"a", "b"}, {"NOUN", "Title."}) == "a B.");
}

TEST_CASE("Verse references") {
  CHECK(verse_reference_length("Ge1:1 In") == 6);
  CHECK(verse_reference_length("1Sm17:40 And") == 9);
  for (const char* wrong : {"", "Ge1:1", "Ge 1:1 In", "4Ge1:1 In", "Ge1 In", "1:1 In", "Ge:1 In"}) {
    INFO(wrong);
    CHECK(verse_reference_length(wrong) == 0);
  }
}

TEST_CASE("Every verse of the King James text comes back") {
  const std::string text = king_james_text();
  if (text.empty()) return;
  std::size_t verses = 0;
  std::size_t wrong = 0;
  for (const std::string& line : split_fields(text, '\n')) {
    if (line.empty()) continue;
    ++verses;
    const std::size_t reference = verse_reference_length(line);
    REQUIRE(reference > 0);
    const std::string verse = line.substr(reference);
    if (there_and_back(verse) != with_single_spaces(verse)) ++wrong;
  }
  CHECK(verses == 31102);
  CHECK(wrong == 0);
}

}  // namespace kingjames_test
