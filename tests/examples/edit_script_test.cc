#include "examples/nlp/annotate/edit_script.h"

#include "tests/support/prelude.h"

namespace edit_script_test {

using namespace annotate;

TEST_CASE("edit scripts: words that change alike have one rule, which makes the new word") {
  struct Case {
    const char* rule;
    std::vector<std::pair<std::string, std::string>> words;
  };
  const Case cases[] = {
      {"l0,0,0,0,0:",
       {{"cat", "cat"}, {"The", "the"}, {"USA", "usa"}, {"\u00c9t\u00e9", "\u00e9t\u00e9"}}},
      {"l0,0,0,0,1:", {{"cats", "cat"}, {"Dogs", "dog"}}},
      {"l0,0,0,0,3:y", {{"cities", "city"}, {"Skies", "sky"}}},
      {"l0,0,0,0,1:er", {{"grands", "grander"}}},
      {"l0,2,0,0,0:", {{"unhappy", "happy"}}},
      {"l1,1,1,0,0:i", {{"sang", "sing"}, {"Rang", "ring"}}},
      {"l0,0,0,1,1:o", {{"n't", "not"}}},
      {"k0,0,0,0,0:", {{"London", "London"}, {"McCoy", "McCoy"}}},
      {"k0,0,0,0,2:", {{"London's", "London"}}},
      {"t0,0,0,0,0:", {{"LONDON", "London"}, {"\u00e9mile", "\u00c9mile"}}},
      {"u0,0,0,0,0:", {{"nasa", "NASA"}}},
      {"=be", {{"is", "be"}, {"am", "be"}}},
      {"=", {{"x", ""}}},
  };
  for (const auto& [rule, words] : cases)
    for (const auto& [from, to] : words) {
      CAPTURE(rule, from, to);
      CHECK(edit_script(from, to) == rule);
      CHECK(apply_edit_script(rule, from) == to);
    }
  // A rule learned of one word does for another.
  CHECK(apply_edit_script("l0,0,0,0,1:", "TABLES") == "table");
  CHECK(apply_edit_script("l1,1,1,0,0:i", "Bank") == "bink");
}

TEST_CASE("edit scripts: parts that rules share") {
  CHECK(parts_of_edit_script("l0,0,0,0,3:y") == Strings{"l", "h0,0:", "t0,3:y"});
  CHECK(parts_of_edit_script("t1,1,1,0,0:i") == Strings{"t", "h1,1:i", "t0,0:"});
  CHECK(parts_of_edit_script("k0,2,1,1,3:\u00e9xy") == Strings{"k", "h0,2:\u00e9", "t1,3:xy"});
  for (const char* none : {"=be", "=", "", "l0,0"}) CHECK(parts_of_edit_script(none).empty());
}

TEST_CASE("edit scripts: a rule that does not fit the word, or is none, makes nothing") {
  for (const char* rule :
       {"", "l", "x0,0,0,0,0:", "l0,0,0,0:", "l0,0,0,0,0", "l0,0,0,0,0,",
        "l-1,0,0,0,0:", "l0,0,1,0,0:", "l18446744073709551615,1,0,0,0:", "l0,0,0,9999999999,0:"}) {
    CAPTURE(rule);
    CHECK_FALSE(apply_edit_script(rule, "word"));
  }
  CHECK(apply_edit_script("l0,0,0,0,3:", "abcd") == "a");
  CHECK_FALSE(apply_edit_script("l0,0,0,0,4:", "abcd"));  // nothing of the word would stay
  CHECK_FALSE(apply_edit_script("l1,1,0,1,1:", "abcd"));
  CHECK_FALSE(apply_edit_script("l0,0,0,0,0:", ""));
}

TEST_CASE("split scripts: words cut from a token, or others in its place") {
  struct Case {
    std::string token;
    Strings words;
    const char* rule;
  };
  const Case cases[] = {
      {"don't", {"do", "n't"}, "c3"},
      {"l'\u00e9t\u00e9", {"l'", "\u00e9t\u00e9"}, "c3"},
      {"d\u00e1melo", {"d\u00e1", "me", "lo"}, "c4,2"},
      {"du", {"de", "le"}, "el1,1,5:e le"},
  };
  for (const auto& [token, words, rule] : cases) {
    CAPTURE(token);
    if (rule[0] == 'c') CHECK(split_script(token, words) == rule);
    CHECK(apply_split_script(split_script(token, words), token) == words);
  }
  CHECK(apply_split_script("c3", "Didn't") == Strings{"Did", "n't"});
  CHECK(split_script("du", {"de", "le"}) == split_script("Du", {"de", "le"}));
  for (const char* rule :
       {"", "c", "c0", "c5", "c2,3", "cx", "c3 ", "e", "x", "e=one", "e=a ", "e= a"}) {
    CAPTURE(rule);
    CHECK(apply_split_script(rule, "don't").empty());
  }
}

}  // namespace edit_script_test
