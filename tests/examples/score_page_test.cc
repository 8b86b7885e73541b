#include "examples/nlp/tagger/score_page.h"

#include "examples/nlp/common/training.h"
#include "tests/examples/programs.h"

namespace score_page_test {

using tagger::Baseline;
using tagger::Corpus;
using tagger::Report;
using tagger::Tagging;

std::string page(const Corpus& corpus, const std::vector<Tagging>& found, const Corpus& training,
                 tagger::TagKind kind = tagger::TagKind::kPlain) {
  const Baseline baseline(training);
  Report report("the \"data\" <here>", kind);
  for (std::size_t i = 0; i < corpus.size(); ++i) report.add(corpus[i], found[i].tags, baseline);
  return tagger::score_page(report, corpus, found, baseline);
}

// The table row that starts with this cell, with a space for each tag.
std::string row(const std::string& html, const std::string& first) {
  const std::size_t begin = html.find("<tr><td>" + first + "</td>");
  REQUIRE(begin != std::string::npos);
  std::string cells;
  bool inside = false;
  for (const char c : html.substr(begin, html.find('\n', begin) - begin)) {
    inside = c == '<' || (inside && c != '>');
    if (!inside && c == '>') cells += cells.empty() || cells.back() == ' ' ? "" : " ";
    if (!inside && c != '>') cells += c;
  }
  return cells;
}

Strings words(std::size_t count) {
  Strings all;
  for (std::size_t i = 0; i < count; ++i) all.push_back("w" + std::to_string(i));
  return all;
}

TEST_CASE("score page: scores by class, by word and by length are those of the words") {
  const Corpus corpus = {{{"a", "b", "new"}, {"X", "Y", "X"}, "", 1},
                         {{"a", "a", "a", "a", "b", "b"}, {"X", "X", "X", "X", "Y", "Y"}, "", 5}};
  const std::vector<Tagging> found = {{{"X", "X", "Y"}, {.9f, .6f, .7f}},
                                      {{"X", "X", "X", "X", "Y", "X"}, {1, 1, 1, 1, 1, .5f}}};
  const std::string html = page(corpus, found, {{{"a", "b"}, {"X", "Y"}, "", 1}});
  CHECK(html.starts_with("<!doctype html>"));
  CHECK(html.find("</html>") == html.size() - 7);
  CHECK(row(html, "accuracy") == "accuracy 66.67 % 100.00 % ");
  CHECK(row(html, "X") == "X 71.43 % 83.33 % 76.92 % 6 ");
  CHECK(row(html, "Y") == "Y 50.00 % 33.33 % 40.00 % 3 ");
  CHECK(row(html, "seen in training") == "seen in training 75.00 % 8 ");
  CHECK(row(html, "unseen in training") == "unseen in training 0.00 % 1 ");
  CHECK(row(html, "1 to 5 words") == "1 to 5 words 33.33 % 3 ");
  CHECK(row(html, "6 to 10 words") == "6 to 10 words 83.33 % 6 ");
  CHECK(html.find("11 to 20") == std::string::npos);
  CHECK(row(html, "Y</td><td>X") == "Y X 2 66.67 % ");
  CHECK(row(html, "X</td><td>Y") == "X Y 1 33.33 % ");
  CHECK(html.find("<td>Y</td><td>X</td>") < html.find("<td>X</td><td>Y</td>"));
  nlp::Fingerprint all;  // of every byte
  all.add(html);
  CHECK(all.value() == 0x247a16b7d0448521);
}

TEST_CASE("score page: sentences of 5, 10, 20, 40 words and more are in rows of their own") {
  Corpus corpus;
  std::vector<Tagging> found;
  for (const std::size_t size : {5, 6, 10, 11, 20, 21, 40, 41}) {
    corpus.push_back({words(size), Strings(size, "X"), "", 1});
    found.push_back({Strings(size, "X"), Floats(size, 1)});
  }
  const std::string html = page(corpus, found, corpus);
  CHECK(row(html, "1 to 5 words") == "1 to 5 words 100.00 % 5 ");
  CHECK(row(html, "6 to 10 words") == "6 to 10 words 100.00 % 16 ");
  CHECK(row(html, "11 to 20 words") == "11 to 20 words 100.00 % 31 ");
  CHECK(row(html, "21 to 40 words") == "21 to 40 words 100.00 % 61 ");
  CHECK(row(html, "over 40 words") == "over 40 words 100.00 % 41 ");
  CHECK(contains(html, "<p>None.</p>"));
  CHECK_FALSE(contains(html, "confusions"));
}

TEST_CASE("score page: the surest errors come first, in their context, at most 50") {
  Corpus corpus;
  std::vector<Tagging> found;
  for (int i = 0; i < 60; ++i) {
    const float probability = i == 37 ? 0.99f : 0.5f;
    corpus.push_back({words(20), Strings(20, "X"), "", 10 + 21u * i});
    found.push_back({Strings(20, "X"), Floats(20, probability)});
    found.back().tags[10] = "Y";
  }
  corpus[37].name = "Ge1:1";
  const std::string html = page(corpus, found, corpus);
  CHECK(contains(html, "50 of 60"));
  const std::size_t first = html.find("class=\"error\"");
  REQUIRE(first != std::string::npos);
  const std::string shown = html.substr(first, html.find("</p>", first) - first);
  CHECK(contains(shown, "title=\"Ge1:1\""));
  CHECK(contains(shown, "\u2026 <bdi>w2</bdi> <bdi>w3</bdi> "));
  CHECK(contains(shown,
                 "<bdi><mark>w10</mark></bdi> <small><bdi><b><bdi>Y</bdi></b> 99.00 %, right "
                 "<b><bdi>X</bdi></b></bdi></small> <bdi>w11</bdi>"));
  CHECK(contains(shown, "<bdi>w18</bdi> \u2026"));
  CHECK(contains(html, "title=\"line 10\""));
  CHECK(occurrences(html, "class=\"error\"") == 50);
}

TEST_CASE("score page: words, tags and names stay text") {
  const std::string evil = "\"><script>&";
  const Corpus corpus = {{{evil, evil}, {evil, "O"}, evil, 1}};
  const std::string html = page(corpus, {{{"O", evil}, {.5f, .5f}}}, {{{"a"}, {"O"}, "", 1}});
  CHECK_FALSE(contains(html, "<script"));
  CHECK_FALSE(contains(html, "\"><scr"));
  CHECK(contains(html, "<h1>the &quot;data&quot; &lt;here&gt;</h1>"));
}

TEST_CASE("score page: the tagger writes one of tags, of spans and of a CRF") {
  const Desk tagger(any_program("tagger"), 40, "train --model model");
  const std::string scores = tagger.must("p eval -m model --data data --html page");
  const std::string html = tagger.read("page");
  CHECK(contains(html, "<h2>Scores</h2>"));
  CHECK(scores == tagger.must("p eval -m model --data data"));
  tagger.write("spans", "Ann|B-PER Lee|I-PER sees|O Rome|B-LOC\nhe|O sees|O Ann|B-PER\n");
  tagger.must("p train --train spans --model spans.model --crf --epochs 1 --dev spans");
  tagger.must("p eval -m spans.model --data spans --html page --json");
  const std::string spans = tagger.read("page");
  CHECK(contains(spans, "<th>spans</th>"));
  CHECK(row(spans, "F1").find("%") != std::string::npos);
  tagger.refuses("p eval -m model --data data --html data", kWrongUsage, "--html");
}

}  // namespace score_page_test
