#include "examples/nlp/parser/evaluate.h"

#include <algorithm>
#include <utility>
#include <vector>

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
}

void Report::print(std::ostream& out) const {
  constexpr std::size_t kWidth = 11;
  const std::vector<std::pair<std::string, const Scores*>> rows = {{"  parser      ", &model},
                                                                   {"  by tag alone", &baseline}};
  const std::string indent(rows[0].first.size(), ' ');
  out << name << ": " << nlp::with_commas(sentences) << " sentences, "
      << nlp::with_commas(model.heads.total) << " words, "
      << nlp::with_commas(model.heads_of_words.total) << " without punctuation\n"
      << indent << nlp::padded("all words", 2 * kWidth) << nlp::padded("no punctuation", 2 * kWidth)
      << '\n'
      << indent;
  for (const char* title : {"UAS", "LAS", "UAS", "LAS"}) out << nlp::padded(title, kWidth);
  out << '\n';
  for (const auto& [label, scores] : rows) {
    out << label;
    for (const nlp::Ratio& ratio :
         {scores->heads, scores->arcs, scores->heads_of_words, scores->arcs_of_words}) {
      out << nlp::padded(nlp::percent(ratio.value()), kWidth);
    }
    out << '\n';
  }
  out.flush();
}

}  // namespace parser
