#include "examples/nlp/annotate/treebank.h"

#include <algorithm>
#include <utility>

#include "examples/nlp/parser/conllu.h"

namespace annotate {

using namespace nlp;

namespace {

bool has_tree(const conllu::Sentence& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows.fields(i)[conllu::kHead] != "_") return true;
  return false;
}

}  // namespace

Sentence sentence_of(const conllu::Sentence& rows) {
  require_readable(rows.size(), rows.line_number(0), rows.file());
  Sentence sentence;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> fields = rows.fields(i);
    sentence.words.push_back(std::move(fields[conllu::kForm]));
    for (std::size_t output = 0; output < kOutputs; ++output) {
      rows.require_filled(i, fields, kColumns[output], "field");
      sentence.columns[output].push_back(std::move(fields[kColumns[output]]));
    }
  }
  if (has_tree(rows)) {
    parser::Tree tree = parser::sentence_of(rows, parser::Trees::kRead).tree;
    sentence.heads = std::move(tree.heads);
    sentence.labels = std::move(tree.labels);
  }
  return sentence;
}

std::size_t Treebank::words() const {
  std::size_t count = 0;
  for (const Sentence& sentence : sentences) count += sentence.size();
  return count;
}

Treebank read_treebank(const TextSource& source) {
  Treebank treebank;
  treebank.rows = conllu::read(source, [&](const conllu::Sentence& rows) {
    treebank.sentences.push_back(sentence_of(rows));
  });
  treebank.paragraphs = paragraphs_of(treebank.rows);
  for (std::size_t p = 0; p < treebank.paragraphs.size(); ++p)
    for (std::size_t s = 0; s < treebank.paragraphs[p].sentences.size(); ++s)
      treebank.places.push_back({p, s});
  return treebank;
}

}  // namespace annotate
