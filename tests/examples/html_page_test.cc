#include "examples/nlp/common/html_page.h"

#include "examples/nlp/common/training.h"
#include "tests/examples/programs.h"

namespace html_page_test {

struct Row {
  std::string form, tag, head, relation;
};

std::string page(const std::vector<std::vector<Row>>& sentences,
                 const std::string& title = "a title") {
  nlp::HtmlPage page(title);
  std::string all = page.begin() + '\n';
  for (const auto& rows : sentences) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      all += page.add(std::to_string(i + 1) + '\t' + rows[i].form + "\t_\t" + rows[i].tag +
                      "\t_\t_\t" + rows[i].head + '\t' + rows[i].relation + "\t_\t_");
    all += page.add("");
  }
  return all + page.end();
}

double number_after(const std::string& text, const std::string& start, std::size_t from = 0) {
  const std::size_t at = text.find(start, from);
  REQUIRE(at != std::string::npos);
  return std::stod(text.substr(at + start.size()));
}

// Horizontal place of the word with this form.
double place_of(const std::string& text, const std::string& form) {
  const std::size_t end = text.find("\"form\">" + form + "<");
  REQUIRE(end != std::string::npos);
  return number_after(text, "x=\"", text.rfind("<text", end));
}

TEST_CASE("HTML: words without a tree flow as text, with their tags") {
  const std::string text = page({{{"we", "PRON", "_", "_"}, {"go", "VERB", "_", "_"}}});
  CHECK(text.starts_with("<!doctype html>"));
  CHECK(occurrences(text, "<svg") == 0);
  CHECK(occurrences(text, "class=\"word\"") == 2);
  CHECK(contains(text, ">PRON</small>"));
  CHECK(text.find("</html>") == text.size() - 7);
}

TEST_CASE("HTML: a short tree is drawn from left to right, one of a right-to-left script back") {
  const auto tree = [](const std::string& a, const std::string& b, const std::string& c) {
    return page({{{a, "D", "2", "det"}, {b, "N", "3", "nsubj"}, {c, "V", "0", "root"}}});
  };
  const std::string text = tree("the", "cat", "sleeps");
  CHECK(occurrences(text, "class=\"arc\"") == 2);
  CHECK(occurrences(text, ">root<") == 1);
  CHECK(place_of(text, "the") < place_of(text, "cat"));
  CHECK(place_of(text, "cat") < place_of(text, "sleeps"));
  const std::string mixed = tree("he", "said", "שלום");
  CHECK(place_of(mixed, "he") < place_of(mixed, "said"));
  const std::string back = tree("הילד", "אכל", "תפוח");
  CHECK(place_of(back, "הילד") > place_of(back, "אכל"));
  CHECK(place_of(back, "אכל") > place_of(back, "תפוח"));
}

TEST_CASE("HTML: arcs over the same words are at different heights") {
  // All words depend on the last one: nested arcs.
  std::vector<Row> rows;
  for (int i = 0; i < 6; ++i) rows.push_back({"w" + std::to_string(i), "X", "7", "dep"});
  rows.push_back({"head", "X", "0", "root"});
  const std::string text = page({rows});
  std::set<double> tops;
  for (std::size_t at = text.find("class=\"arc\""); at != std::string::npos;
       at = text.find("class=\"arc\"", at + 1))
    tops.insert(number_after(text, " V", at));
  CHECK(tops.size() == 6);
}

TEST_CASE("HTML: a long sentence has a word a line, however long it is") {
  for (const unsigned n : {40u, 1000u}) {
    std::vector<Row> rows;
    for (unsigned i = 0; i < n; ++i)
      rows.push_back({"word", "N", i == 0 ? "0" : std::to_string(i), i == 0 ? "root" : "flat"});
    const std::string text = page({rows});
    const std::size_t svg = text.find("<svg");
    CHECK(number_after(text, "width=\"", svg) < 400);
    CHECK(number_after(text, "height=\"", svg) > 20 * n);
    CHECK(occurrences(text, "class=\"arc\"") == n - 1);
  }
}

TEST_CASE("HTML: text stays text, in titles and attributes too") {
  const std::string evil = "\"><script>alert('1')</script>&";
  const std::string text =
      page({{{evil, evil, "0", evil}, {evil, evil, "1", evil}}, {{evil, evil, "_", "_"}}}, evil);
  CHECK(occurrences(text, "<script") == 0);
  CHECK(occurrences(text, "\"><scr") == 0);
  CHECK(occurrences(text, "&quot;&gt;&lt;script&gt;alert('1')&lt;/script&gt;&amp;") == 12);
}

TEST_CASE("HTML: pages are the same to the byte") {
  std::vector<Row> rows = {{"a", "X", "3", "det"}, {"b", "Y", "1", "x"}, {"c", "Z", "0", "root"}};
  const std::vector<Row> tree = rows, words = {{"we", "PRON", "_", "_"}, {"go", "VERB", "_", "_"}};
  for (int i = 0; i < 40; ++i) rows.push_back({"word", "N", std::to_string(1 + i * i % 43), "dep"});
  nlp::Fingerprint all;
  all.add(page({tree, words, rows, {{"הילד", "D", "2", "det"}, {"אכל", "V", "0", "root"}}}));
  CHECK(all.value() == 0xd8b65054ce02e361);
}

TEST_CASE("HTML: odd trees are drawn as far as they can be") {
  const std::string text = page({{{"self", "X", "1", "dep"}, {"to", "X", "1", "dep"}},
                                 {{"loop", "X", "2", "a"}, {"back", "X", "1", "b"}},
                                 {}});
  CHECK(occurrences(text, "<section>") == 2);
  CHECK(occurrences(text, "class=\"arc\"") == 3);
  CHECK_THROWS_AS(page({{{"far", "X", "9", "dep"}}}), nlp::UserError);
}

TEST_CASE("HTML: tagger and parser show what they find") {
  const Desk tagger(any_program("tagger"), 40, "train --model model");
  const std::string tags = tagger.must("apply --html < in");
  CHECK(tags.starts_with("<!doctype html>"));
  CHECK(occurrences(tags, "<section>") == 40);
  CHECK(occurrences(tags, "<svg") == 0);
  CHECK(contains(tagger.must("apply --html --probabilities < in"), "Prob="));
  tagger.refuses("apply --html --format json < in", kWrongUsage, "--html");
  const Desk parser(any_program("parser"), 40, "train --model model");
  const std::string trees = parser.must("apply --html < in");
  CHECK(occurrences(trees, "<section>") == 40);
  CHECK(occurrences(trees, "<svg") == 40);
  parser.must("apply --html --output page < in");
  CHECK(occurrences(parser.read("page"), "<svg") == 40);
}

}  // namespace html_page_test
