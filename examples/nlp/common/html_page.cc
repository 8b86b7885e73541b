#include "examples/nlp/common/html_page.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "dynet-like/base/printable.h"
#include "dynet-like/base/utf8.h"
#include "examples/nlp/common/conllu.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/text.h"

namespace nlp {
namespace {

constexpr std::size_t kNobody = ~std::size_t{0};
constexpr unsigned kLetter = 8, kBetween = 18, kLevel = 22, kRow = 26;  // pixels
constexpr unsigned kWide = 700;  // of a tree that is drawn from left to right

struct ShownWord {
  std::string form, tag, relation, title;
  std::size_t head = kNobody;    // kNobody: the root, or no tree
  std::size_t from = 0, to = 0;  // of its arc: words, from < to
  unsigned level = 0;            // of its arc, from 1
};

template <class See>
void for_characters(std::string_view text, See see) {
  while (!text.empty()) {
    const dynet::Utf8Character c = dynet::first_utf8_character(text);
    see(c.code);
    text.remove_prefix(std::max<std::size_t>(1, c.bytes));
  }
}

// Letters of East Asia and pictures are twice as wide.
unsigned width_of(const std::string& text) {
  unsigned width = 0;
  for_characters(text, [&](std::uint32_t c) { width += c >= 0x1100 ? 2 * kLetter : kLetter; });
  return width;
}

// Whether the first letter is of a script that is written from right to left.
bool is_right_to_left(const std::vector<ShownWord>& words) {
  std::optional<bool> found;
  for (const ShownWord& word : words)
    for_characters(word.form, [&](std::uint32_t c) {
      const bool right =
          (c >= 0x590 && c < 0x900) || (c >= 0xfb1d && c < 0xfe00) || (c >= 0xfe70 && c < 0xff00);
      const bool left =
          (c < 0x80 && (is_lower(static_cast<char>(c)) || is_upper(static_cast<char>(c)))) ||
          c >= 0xc0;
      if (!found && (right || left)) found = right;
    });
  return found.value_or(false);
}

// A colour for each tag, the same on every page.
unsigned hue_of(const std::string& tag) {
  std::uint32_t h = 2166136261u;
  for (const char c : tag) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
  return h % 360;
}

std::vector<ShownWord> shown_words(const conllu::Sentence& rows) {
  std::vector<ShownWord> words;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<std::string> f = rows.fields(i);
    ShownWord word;
    word.form = f[conllu::kForm];
    word.tag = f[f[conllu::kUpos] == "_" ? conllu::kXpos : conllu::kUpos];
    word.relation = f[conllu::kDeprel] == "_" ? "" : f[conllu::kDeprel];
    for (const conllu::Column c :
         {conllu::kLemma, conllu::kUpos, conllu::kXpos, conllu::kFeats, conllu::kMisc})
      if (f[c] != "_")
        word.title +=
            (word.title.empty() ? "" : ", ") + std::string(conllu::kNames[c]) + ' ' + f[c];
    if (f[conllu::kHead] != "_" && f[conllu::kHead] != "0")
      word.head = parse_number(f[conllu::kHead], "a head", rows.size()) - 1;
    words.push_back(std::move(word));
  }
  return words;
}

// Arcs lie above the arcs that they span. Returns the highest level.
unsigned set_levels(std::vector<ShownWord>& words) {
  std::vector<ShownWord*> arcs;
  for (std::size_t i = 0; i < words.size(); ++i) {
    ShownWord& word = words[i];
    if (word.head == kNobody || word.head == i || word.head >= words.size()) continue;
    word.from = std::min(i, word.head);
    word.to = std::max(i, word.head);
    arcs.push_back(&word);
  }
  std::stable_sort(arcs.begin(), arcs.end(), [](const ShownWord* a, const ShownWord* b) {
    return a->to - a->from < b->to - b->from;
  });
  std::vector<unsigned> above(words.size(), 0);  // the highest arc over the gap behind each word
  unsigned highest = 0;
  for (ShownWord* const arc : arcs) {
    unsigned level = 0;
    for (std::size_t gap = arc->from; gap < arc->to; ++gap) level = std::max(level, above[gap]);
    arc->level = level + 1;
    for (std::size_t gap = arc->from; gap < arc->to; ++gap) above[gap] = arc->level;
    highest = std::max(highest, arc->level);
  }
  return highest;
}

std::string attribute(const char* name, double value) {
  return std::string(" ") + name + "=\"" + fixed(value, 1) + '"';
}

std::string text(double x, double y, const char* kind, const std::string& content,
                 const std::string& more = "") {
  return "<text" + attribute("x", x) + attribute("y", y) + " class=\"" + kind + '"' + more + '>' +
         dynet::xml_text(content) + "</text>";
}

std::string color(const std::string& tag) {
  return " style=\"--hue:" + std::to_string(hue_of(tag)) + '"';
}

std::string begin_svg(double width, double height) {
  return "<svg" + attribute("width", width) + attribute("height", height) + ">\n";
}

// Words side by side under their arcs.
std::string wide_tree(const std::vector<ShownWord>& words, unsigned levels) {
  std::vector<double> middle;
  double width = 0;
  for (const ShownWord& word : words) {
    const unsigned own =
        std::max({width_of(word.form), width_of(word.tag), width_of(word.relation)});
    middle.push_back(width + (own + kBetween) / 2.0);
    width += own + kBetween;
  }
  if (is_right_to_left(words))
    for (double& x : middle) x = width - x;
  const double ground = (levels + 1) * kLevel;
  std::string svg = begin_svg(width, ground + 60);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const ShownWord& word = words[i];
    const double x = middle[i];
    svg += "<g><title>" + dynet::xml_text(word.title) + "</title>" +
           text(x, ground + 18, "form", word.form) +
           text(x, ground + 36, "tag", word.tag, color(word.tag)) + "</g>\n";
    if (word.level == 0) {
      if (!word.relation.empty()) svg += text(x, ground + 52, "relation", word.relation);
      continue;
    }
    const double end = middle[word.head], top = ground - word.level * kLevel;
    const double side = end < x ? -6 : 6;  // arcs of a word leave side by side
    svg += "<path class=\"arc\" d=\"M" + fixed(end - side, 1) + ' ' + fixed(ground, 1) + " V" +
           fixed(top + 6, 1) + " Q" + fixed(end - side, 1) + ' ' + fixed(top, 1) + ' ' +
           fixed(end - 2 * side, 1) + ' ' + fixed(top, 1) + " H" + fixed(x + 2 * side, 1) + " Q" +
           fixed(x + side, 1) + ' ' + fixed(top, 1) + ' ' + fixed(x + side, 1) + ' ' +
           fixed(top + 6, 1) + " V" + fixed(ground, 1) + " m-3 -6 l3 6 l3 -6\"/>" +
           text((x + end) / 2, top - 3, "relation", word.relation) + '\n';
  }
  return svg + "</svg>\n";
}

// A word a line, with arcs at its left: for long sentences and narrow windows.
std::string tall_tree(const std::vector<ShownWord>& words, unsigned levels) {
  const double step = levels > 12 ? 120.0 / levels : 10, gutter = levels * step + 24;
  double width = 0;
  for (const ShownWord& word : words) width = std::max<double>(width, width_of(word.form));
  const double tags = gutter + width + kBetween;
  double tag_width = 0, relation_width = 0;
  for (const ShownWord& word : words) {
    tag_width = std::max<double>(tag_width, width_of(word.tag));
    relation_width = std::max<double>(relation_width, width_of(word.relation));
  }
  const double relations = tags + tag_width + kBetween;
  std::string svg =
      begin_svg(relations + relation_width, static_cast<double>(words.size()) * kRow + 6);
  const auto y_of = [](std::size_t i) { return static_cast<double>(i) * kRow + kRow / 2.0; };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const ShownWord& word = words[i];
    const double y = y_of(i);
    svg += "<g><title>" + dynet::xml_text(word.title) + "</title>" +
           text(gutter, y + 5, "form left", word.form) +
           text(tags, y + 5, "tag left", word.tag, color(word.tag)) +
           text(relations, y + 5, "relation left", word.relation) + "</g>\n";
    if (word.level == 0) continue;
    const double end = y_of(word.head), x = gutter - 10, turn = x - 4 - word.level * step;
    const double side = end < y ? -4 : 4;
    svg += "<path class=\"arc\" d=\"M" + fixed(x, 1) + ' ' + fixed(end - side, 1) + " H" +
           fixed(turn, 1) + " V" + fixed(y + side, 1) + " H" + fixed(x, 1) +
           " m-5 -3 l5 3 l-5 3\"/>\n";
  }
  return svg + "</svg>\n";
}

std::string tagged_words(const std::vector<ShownWord>& words) {
  std::string html = "<p dir=\"auto\">";
  for (const ShownWord& word : words)
    html += "<span class=\"word\" title=\"" + dynet::xml_text(word.title) + "\">" +
            dynet::xml_text(word.form) + "<small" + color(word.tag) + '>' +
            dynet::xml_text(word.tag) + "</small></span>\n";
  return html + "</p>\n";
}

}  // namespace

std::string html_head(const std::string& title, const std::string& style) {
  return "<!doctype html>\n<html>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
         dynet::xml_text(title) +
         "</title>\n<style>\n"
         ":root { color-scheme: light dark; --light: 35%; font: 15px system-ui, sans-serif; }\n"
         "@media (prefers-color-scheme: dark) { :root { --light: 75%; } }\n"
         "body { margin: 1rem; }\n"
         "section { overflow-x: auto; margin: 0 0 1.5rem; }\n" +
         style + "</style>";
}

std::string HtmlPage::begin() const {
  return html_head(
      title_,
      ".word { display: inline-block; text-align: center; margin: 0 .5em .6em 0; }\n"
      ".word small { display: block; font-size: 12px; color: hsl(var(--hue) 70% var(--light)); }\n"
      "text { fill: currentColor; text-anchor: middle; }\n"
      ".left { text-anchor: start; }\n"
      ".tag { font-size: 12px; fill: hsl(var(--hue) 70% var(--light)); }\n"
      ".relation { font-size: 12px; opacity: .8; }\n"
      ".arc { fill: none; stroke: currentColor; opacity: .6; }\n");
}

std::string HtmlPage::add(const std::string& line) {
  if (!line.empty()) {
    lines_.push_back(line);
    return "";
  }
  return sentence();
}

std::string HtmlPage::end() { return sentence() + "</html>"; }

std::string HtmlPage::sentence() {
  if (lines_.empty()) return "";
  const std::vector<std::string> lines = std::exchange(lines_, {});
  const conllu::Sentence rows(lines, {0, lines.size()}, title_, before_);
  before_ += lines.size() + 1;
  std::vector<ShownWord> words = shown_words(rows);
  if (words.empty()) return "";
  const bool tree = std::any_of(words.begin(), words.end(),
                                [](const ShownWord& w) { return !w.relation.empty(); });
  if (!tree) return "<section>\n" + tagged_words(words) + "</section>\n";
  const unsigned levels = set_levels(words);
  unsigned width = 0;
  for (const ShownWord& word : words)
    width +=
        kBetween + std::max({width_of(word.form), width_of(word.tag), width_of(word.relation)});
  return "<section>\n" + (width > kWide ? tall_tree(words, levels) : wide_tree(words, levels)) +
         "</section>\n";
}

}  // namespace nlp
