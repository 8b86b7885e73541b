#include "dynet-like/base/printable.h"

#include <string>
#include <utility>

#include "tests/support/catch.h"

namespace printable_test {

using namespace dynet;

TEST_CASE("printable escapes control characters and invalid UTF-8") {
  const std::pair<std::string, std::string> cases[] = {
      {"", ""},
      {"/layer/W", "/layer/W"},
      {"a\\b \"c\"", "a\\b \"c\""},
      {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
      {"one\ntwo\ttab\rback", "one\\ntwo\\ttab\\rback"},
      {"\x1b[31mred\x1b[0m\x07", "\\u{1b}[31mred\\u{1b}[0m\\u{7}"},
      {std::string("a\0b", 3), "a\\u{0}b"},
      {"\x7f", "\\u{7f}"},
      {"\xc2\x9b"
       "31m\xc2\xa0",
       "\\u{9b}31m\xc2\xa0"},  // C1 controls; U+009B starts an escape sequence
      {"\xe2\x80\xae"
       "cc.exe",
       "\\u{202e}cc.exe"},
      {"\xe2\x80\xa8\xe2\x81\xa6\xd8\x9c", "\\u{2028}\\u{2066}\\u{61c}"},
      {"\xff\x80z", "\\xff\\x80z"},
      {"\xc3", "\\xc3"},           // truncated
      {"\xe2\x82", "\\xe2\\x82"},  // truncated
      {"\xf0\x9f\x98z", "\\xf0\\x9f\\x98z"},
      {"\xc0\xaf", "\\xc0\\xaf"},  // overlong encoding
      {"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},
      {"\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // a surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // above U+10FFFF
      {"\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80"},
  };
  for (const auto& [text, expected] : cases) {
    INFO(expected);
    CHECK(printable(text) == expected);
    CHECK(printable(expected) == expected);
    CHECK(quoted_printable(text) == '"' + expected + '"');
  }
}

TEST_CASE("printable removes control characters from all pairs of bytes") {
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b) {
      const std::string shown = printable(std::string{static_cast<char>(a), static_cast<char>(b)});
      for (const char c : shown) REQUIRE((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
      REQUIRE(printable(shown) == shown);
    }
}

TEST_CASE("text of XML is escaped, and what is no text is replaced") {
  CHECK(xml_text("a<b>&\"c\" d\n") == "a&lt;b&gt;&amp;&quot;c&quot; d\n");
  CHECK(xml_text("gr\xc3\xb6\xc3\x9f"
                 "er \xe7\x8a\xac") ==
        "gr\xc3\xb6\xc3\x9f"
        "er \xe7\x8a\xac");
  CHECK(xml_text(std::string("\x01\x00\xff\xef\xbf\xbf", 6)) == "????");
}

}  // namespace printable_test
