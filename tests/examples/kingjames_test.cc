// Text to words and tags, and back.

#include "examples/nlp/tagger/kingjames.h"

#include <random>

#include "examples/nlp/common/files.h"
#include "tests/examples/helpers.h"

namespace kingjames_test {

using namespace nlp;
using namespace tagger;
using tagger::annotate;

std::string there_and_back(const std::string& text) {
  const Sentence sentence = annotate(text);
  return restore(sentence.words, sentence.tags);
}

std::string with_single_spaces(const std::string& text) { return join(split_words(text), " "); }

TEST_CASE("Case and marks of a verse") {
  const Sentence verse = annotate("And God said, Let there be light: and there was light.");
  CHECK(verse.words == Strings{"and", "god", "said", "let", "there", "be", "light", "and", "there",
                               "was", "light"});
  CHECK(verse.tags == Strings{"Title", "Title", "lower,", "Title", "lower", "lower",
                              "lower:", "lower", "lower", "lower", "lower."});
}

TEST_CASE("Brackets, capitals, apostrophes, missing and spare spaces") {
  CHECK(annotate("(for the LORD's sake;) He").tags ==
        Strings{"(lower", "lower", "UPPER", "lower;)", "Title"});
  CHECK(annotate("fear thy God:for I am").tags ==
        Strings{"lower", "lower", "Title:+", "lower", "Title", "lower"});
  CHECK(annotate("accounted of ?").tags == Strings{"lower", "lower_?"});
  CHECK(annotate("EleloheIsrael").tags == Strings{"caps-0-7"});
  CHECK(annotate("sons' loving-kindness--;").words == Strings{"sons'", "loving-kindness"});
  CHECK(annotate("sons' loving-kindness--;").tags == Strings{"lower", "lower--;"});
  CHECK(annotate("  ").words.empty());
  CHECK(annotate("...").words.empty());
}

TEST_CASE("Any text comes back") {
  CHECK(there_and_back(" two  spaces\tand ends ") == "two spaces and ends");
  std::mt19937 random(7);
  const std::string letters = "aAbBzZ09 ''--..,;:!?()<=>  \"_+|\xC3\xA9";
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
