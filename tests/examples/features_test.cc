// The views of a word.

#include "examples/nlp/tagger/features.h"

#include "examples/nlp/common/text.h"
#include "tests/examples/helpers.h"
#include "tests/support/catch.h"

namespace features_test {

using namespace nlp;
using namespace tagger;

TEST_CASE("Views of words") {
  CHECK(view_of("McDonald's", "word") == "McDonald's");
  CHECK(view_of("McDonald's", "lower") == "mcdonald's");
  CHECK(view_of("McDonald's", "shape") == "XxXx'x");
  CHECK(view_of("1,234.5", "shape") == "9,9.9");
  CHECK(view_of("a-b-c-d-e-f-g", "shape").size() == 10);
  CHECK(view_of("Running", "suffix3") == "ing");
  CHECK(view_of("Running", "prefix2") == "ru");
  CHECK(view_of("at", "suffix3") == "at");
  CHECK(view_of("caf\xC3\xA9", "suffix1") == "\xC3\xA9");
  CHECK(view_of("\xC3\xA9t\xC3\xA9", "prefix2") == "\xC3\xA9t");
  CHECK(view_of("", "suffix3") == "");
}

TEST_CASE("Lists of features") {
  const auto features = parse_features("word:100,suffix3,shape:8");
  REQUIRE(features.size() == 3);
  CHECK(features[0].dim == 100);
  CHECK(features[1].dim == 32);
  CHECK(features_text(features) == "word:100,suffix3:32,shape:8");
  CHECK(features_text(parse_features("char,charcnn:20")) == "charlstm:50,charcnn:20");
  CHECK(contains(error_from([&] { parse_features("word,stem"); }), "unknown feature 'stem'"));
  CHECK(contains(error_from([&] { parse_features("suffix0"); }), "unknown feature"));
  CHECK(contains(error_from([&] { parse_features(""); }), "unknown feature ''"));
  CHECK(contains(error_from([&] { parse_features("word:0"); }), "must not be 0"));
  CHECK(contains(error_from([&] { parse_features("word:9999"); }), "from 0 to 4096"));
  CHECK(contains(error_from([&] { parse_features("word:x"); }), "not 'x'"));
  CHECK(contains(error_from([&] { parse_features("word,word"); }), "named twice"));
  CHECK(contains(error_from([&] { parse_features("charlstm,char"); }), "named twice"));
}

}  // namespace features_test
