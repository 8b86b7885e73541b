// Sentences and words of running text.

#include "examples/nlp/common/tokenizer.h"

#include <string>
#include <vector>

#include "examples/nlp/common/text.h"
#include "tests/examples/helpers.h"
#include "tests/support/catch.h"

namespace tokenizer_test {

using namespace nlp;

namespace {

/// Words with spaces where the text has none, sentences between bars.
std::string split(const std::string& text) {
  std::vector<std::string> sentences;
  for (const TokenizedSentence& sentence : tokenize(text))
    sentences.push_back(join(sentence.words, " "));
  return join(sentences, " | ");
}

}  // namespace

TEST_CASE("tokenizer: sentences and words by the rules of Unicode") {
  if (!has_tokenizer()) {
    CHECK(contains(error_from([] { tokenize("x"); }), "was built without ICU"));
    skip("this was built without ICU");
    return;
  }
  CHECK(split("The cat sleeps. Does it?  (Yes, it's 3.5 hours.)") ==
        "The cat sleeps . | Does it ? | ( Yes , it's 3.5 hours . )");
  CHECK(split("Ça va\u00a0? \u4f60\u597d\u3002\u4e16\u754c") ==
        "Ça va ? | \u4f60\u597d \u3002 | \u4e16\u754c");
  CHECK(split("").empty());
  CHECK(split(" \t ").empty());
  const std::vector<TokenizedSentence> found = tokenize("No! \"Go\" on");
  REQUIRE(found.size() == 2);
  CHECK(found[0].joined == std::vector<bool>{true, false});
  CHECK(found[1].joined == std::vector<bool>{true, true, false, false});
}

TEST_CASE("tokenizer: a paragraph is what stands between blank lines") {
  const TemporaryFolder folder;
  InputFile in(folder.write("text", "\nThe cat\nsleeps.\n\n \nYes.\n"));
  std::vector<std::string> paragraphs;
  std::vector<std::size_t> lines;
  for_paragraphs(in, [&](const Paragraph& found) {
    paragraphs.push_back(found.text);
    for (const std::size_t byte : {std::size_t{0}, found.text.size() - 1})
      lines.push_back(found.line_at(byte));
  });
  CHECK(paragraphs == std::vector<std::string>{"The cat sleeps.", "Yes."});
  CHECK(lines == std::vector<std::size_t>{2, 3, 6, 6});
}

}  // namespace tokenizer_test
