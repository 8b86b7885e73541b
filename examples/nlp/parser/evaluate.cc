#include "examples/nlp/parser/evaluate.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "examples/nlp/common/check.h"
#include "examples/nlp/common/progress.h"

namespace parser {

Baseline::Baseline(const Treebank& train) {
  std::map<std::string, std::map<Arc, std::size_t>> counts;
  for (const Sentence& sentence : train) {
    for (std::size_t i = 0; i < sentence.size(); ++i) {
      const long head = sentence.tree.heads[i];
      const long distance = head == 0 ? 0 : head - static_cast<long>(i + 1);
      ++counts[sentence.tags[i]][{distance, sentence.tree.labels[i]}];
    }
  }
  for (const auto& [tag, of_tag] : counts) {
    arcs_[tag] = std::max_element(of_tag.begin(), of_tag.end(), [](const auto& a, const auto& b) {
                   return a.second < b.second;
                 })->first;
  }
}

void Baseline::check() const {
  for (const auto& [tag, arc] : arcs_)
    nlp::require_number("distance of a head", static_cast<double>(arc.distance), -1e9, 1e9);
}

Tree Baseline::parse(const Sentence& sentence) const {
  Tree tree;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    const auto known = arcs_.find(sentence.tags[i]);
    const Arc arc = known == arcs_.end() ? Arc() : known->second;
    const long head = static_cast<long>(i + 1) + arc.distance;
    const bool inside = arc.distance != 0 && head > 0 && head <= static_cast<long>(sentence.size());
    tree.heads.push_back(inside ? static_cast<unsigned>(head) : 0);
    tree.labels.push_back(arc.label);
  }
  return tree;
}

void Scores::add(const Sentence& sentence, const Tree& tree) {
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    const bool head = tree.heads[i] == sentence.tree.heads[i];
    const bool arc = head && tree.labels[i] == sentence.tree.labels[i];
    heads.count(head);
    arcs.count(arc);
    if (sentence.tags[i] == "PUNCT") continue;
    heads_of_words.count(head);
    arcs_of_words.count(arc);
  }
}

void Report::add(const Sentence& sentence, const Tree& tree, const Baseline& trivial) {
  ++sentences;
  model.add(sentence, tree);
  baseline.add(sentence, trivial.parse(sentence));
  const Tree& right = sentence.tree;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    labels.count(right.labels[i], tree.labels[i],
                 tree.heads[i] == right.heads[i] && tree.labels[i] == right.labels[i]);
  }
}

nlp::Counts Report::counts() const {
  return {{"sentences", sentences},
          {"words", model.heads.total},
          {"words without punctuation", model.heads_of_words.total}};
}

nlp::Figures Report::figures() const {
  nlp::Figures figures;
  const auto add = [&](const char* figure, const nlp::Ratio Scores::*score) {
    figures.push_back({figure, (model.*score).value(), (baseline.*score).value()});
  };
  add("UAS", &Scores::heads);
  add("LAS", &Scores::arcs);
  add("UAS, no punctuation", &Scores::heads_of_words);
  add("LAS, no punctuation", &Scores::arcs_of_words);
  return figures;
}

void Report::print(std::ostream& out) const {
  const std::string row = "  parser      ";
  out << name << ": " << nlp::with_commas(sentences) << " sentences, "
      << nlp::with_commas(model.heads.total) << " words, "
      << nlp::with_commas(model.heads_of_words.total) << " without punctuation\n"
      << nlp::padded("all words", row.size() + 22) << nlp::padded("no punctuation", 22) << '\n';
  nlp::print_table(row, "  by tag alone", figures(), {"UAS", "LAS", "UAS", "LAS"}, out);
}

}  // namespace parser
