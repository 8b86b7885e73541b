#include "score_page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "dynet-like/base/printable.h"
#include "examples/nlp/common/html_page.h"
#include "examples/nlp/common/progress.h"

namespace tagger {

using namespace nlp;

namespace {

constexpr std::size_t kConfusions = 20, kErrors = 50, kContext = 8;

constexpr std::string_view kStyle =
    "body { max-width: 60rem; margin: 1rem auto; padding: 0 1rem; }\n"
    "h1 { font-size: 1.5rem; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; }\n"
    "table { border-collapse: collapse; font-variant-numeric: tabular-nums; }\n"
    "th, td { padding: .15rem .7rem; text-align: right; }\n"
    "td { white-space: nowrap; }\n"
    "td:first-child { white-space: normal; overflow-wrap: anywhere; max-width: 12rem; }\n"
    "th:first-child, td:first-child { text-align: left; padding-left: 0; }\n"
    "tr + tr { border-top: 1px solid #8884; }\n"
    ".bar { background: linear-gradient(#4a90d955 0 0) left / var(--part) 100% no-repeat; "
    "min-width: 7rem; }\n"
    "@media (max-width: 500px) { th, td { padding: .15rem .3rem; } .bar { min-width: 0; } }\n"
    ".error { margin: 0 0 .8rem; line-height: 1.7; }\n"
    "mark { background: #d9534f44; color: inherit; border-radius: 3px; padding: 0 .2em; }\n"
    "small { opacity: .8; }\n";

std::string cell(const std::string& text) { return "<td>" + dynet::xml_text(text) + "</td>"; }

// A share with a bar as long as it is.
std::string bar(double part) {
  return "<td class=\"bar\" style=\"--part:" + fixed(100 * part, 1) + "%\">" + percent(part) +
         "</td>";
}

std::string header(const std::vector<std::string>& titles) {
  std::string row = "<tr>";
  for (const std::string& title : titles) row += "<th>" + dynet::xml_text(title) + "</th>";
  return row + "</tr>\n";
}

// A section with a table; without rows there is none.
std::string section(const std::string& title, const std::vector<std::string>& titles,
                    const std::string& rows) {
  return rows.empty() ? ""
                      : "<section>\n<h2>" + title + "</h2>\n<table>\n" + header(titles) + rows +
                            "</table>\n</section>\n";
}

std::string overall(const Report& report) {
  std::string rows;
  for (const Figure& figure : report.figures()) {
    rows += "<tr>" + cell(figure.name) + bar(figure.model) + bar(figure.baseline) + "</tr>\n";
  }
  return section("Scores", {"", "tagger", "most frequent tag/word"}, rows);
}

std::string by_class(const LabelScores& scores, const std::string& counted) {
  std::string rows;
  for (const LabelScores::Known& known : scores.labels()) {
    const FoundScore& score = scores.found().at(known.label);
    rows += "<tr>" + cell(known.label) + bar(score.precision()) + bar(score.recall()) +
            bar(score.f1()) + cell(with_commas(score.wanted)) + "</tr>\n";
  }
  return section("By class", {"", "precision", "recall", "F1", counted}, rows);
}

std::string row_of(const std::string& name, const Ratio& ratio) {
  return ratio.total == 0 ? ""
                          : "<tr>" + cell(name) + bar(ratio.value()) +
                                cell(with_commas(ratio.total)) + "</tr>\n";
}

std::string by_kind(const Report& report, const Corpus& corpus, const std::vector<Tagging>& found) {
  struct Length {
    std::size_t longest;
    const char* name;
    Ratio words;
  };
  std::array<Length, 5> lengths = {{{5, "1 to 5 words", {}},
                                    {10, "6 to 10 words", {}},
                                    {20, "11 to 20 words", {}},
                                    {40, "21 to 40 words", {}},
                                    {~std::size_t{0}, "over 40 words", {}}}};
  for (std::size_t s = 0; s < corpus.size(); ++s) {
    const std::vector<std::string>& gold = corpus[s].tags;
    Length& length = *std::find_if(lengths.begin(), lengths.end(),
                                   [&](const Length& l) { return gold.size() <= l.longest; });
    for (std::size_t i = 0; i < gold.size(); ++i) length.words.count(gold[i] == found[s].tags[i]);
  }
  const Ratio& all = report.model.all;
  const Ratio& unknown = report.model.unknown_words;
  std::string sentences;
  for (const Length& length : lengths) sentences += row_of(length.name, length.words);
  return section(
             "By word", {"", "accuracy", "words"},
             row_of("seen in training", {all.right - unknown.right, all.total - unknown.total}) +
                 row_of("unseen in training", unknown)) +
         section("By length of the sentence", {"", "accuracy", "words"}, sentences);
}

std::string confusions(const LabelScores& scores) {
  struct Confusion {
    std::string right, predicted;
    std::size_t count;
  };
  std::vector<Confusion> all;
  std::size_t errors = 0;
  const std::vector<LabelScores::Known> labels = scores.labels();
  for (const LabelScores::Known& right : labels) {
    for (const LabelScores::Known& predicted : labels) {
      const std::size_t count = scores.taken(right.label, predicted.label);
      if (count == 0 || right.label == predicted.label) continue;
      all.push_back({right.label, predicted.label, count});
      errors += count;
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Confusion& a, const Confusion& b) { return a.count > b.count; });
  all.resize(std::min(all.size(), kConfusions));
  std::string rows;
  for (const Confusion& c : all)
    rows += "<tr>" + cell(c.right) + cell(c.predicted) + cell(with_commas(c.count)) +
            bar(static_cast<double>(c.count) / static_cast<double>(errors)) + "</tr>\n";
  return section("Most frequent confusions", {"right", "predicted", "words", "of all errors"},
                 rows);
}

std::string context(const std::vector<std::string>& words, std::size_t at,
                    const std::string& more) {
  const std::size_t begin = at > kContext ? at - kContext : 0;
  const std::size_t end = std::min(words.size(), at + kContext + 1);
  std::string html = begin > 0 ? "\u2026 " : "";
  for (std::size_t i = begin; i < end; ++i) {
    const std::string word = dynet::xml_text(words[i]);
    html += "<bdi>" + (i == at ? "<mark>" + word + "</mark>" : word) + "</bdi> ";
    if (i == at) html += "<small><bdi>" + more + "</bdi></small> ";
  }
  return html + (end < words.size() ? "\u2026" : "");
}

std::string worst_errors(const Corpus& corpus, const std::vector<Tagging>& found,
                         const Baseline& baseline) {
  struct Error {
    std::size_t sentence, word;
    float probability;
  };
  std::vector<Error> errors;
  for (std::size_t s = 0; s < corpus.size(); ++s) {
    for (std::size_t i = 0; i < corpus[s].tags.size(); ++i) {
      if (corpus[s].tags[i] != found[s].tags[i])
        errors.push_back({s, i, found[s].probabilities[i]});
    }
  }
  if (errors.empty()) return "<section>\n<h2>Errors</h2>\n<p>None.</p>\n</section>\n";
  const std::size_t shown = std::min(errors.size(), kErrors);
  std::stable_sort(errors.begin(), errors.end(),
                   [](const Error& a, const Error& b) { return a.probability > b.probability; });
  std::string html = "<section>\n<h2>Errors that the model was surest of</h2>\n<p>" +
                     with_commas(shown) + " of " + with_commas(errors.size()) +
                     "; a high probability often points at an error in the data.</p>\n";
  for (std::size_t k = 0; k < shown; ++k) {
    const Error& error = errors[k];
    const Sentence& sentence = corpus[error.sentence];
    const std::string& word = sentence.words[error.word];
    const std::string tags = "<b><bdi>" + dynet::xml_text(found[error.sentence].tags[error.word]) +
                             "</bdi></b> " + percent(error.probability) + ", right <b><bdi>" +
                             dynet::xml_text(sentence.tags[error.word]) + "</bdi></b>" +
                             (baseline.knows(word) ? "" : ", unseen in training");
    const std::string place =
        sentence.name.empty() ? "line " + std::to_string(sentence.line) : sentence.name;
    html += "<p class=\"error\" dir=\"auto\" title=\"" + dynet::xml_text(place) + "\">" +
            context(sentence.words, error.word, tags) + "</p>\n";
  }
  return html + "</section>\n";
}

}  // namespace

std::string score_page(const Report& report, const Corpus& corpus,
                       const std::vector<Tagging>& found, const Baseline& baseline) {
  std::string counts;
  for (const auto& [name, count] : report.counts())
    counts += (counts.empty() ? "" : ", ") + with_commas(count) + ' ' + name;
  return html_head("tagger: " + report.name, std::string(kStyle)) + "\n<h1>" +
         dynet::xml_text(report.name) + "</h1>\n<p>" + counts + "</p>\n" + overall(report) +
         by_class(report.label_scores(), report.model.kind == TagKind::kSpans ? "spans" : "words") +
         by_kind(report, corpus, found) + confusions(report.confusion()) +
         worst_errors(corpus, found, baseline) + "</html>";
}

}  // namespace tagger
