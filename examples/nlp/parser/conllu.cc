#include "examples/nlp/parser/conllu.h"

#include <algorithm>
#include <utility>

#include "examples/nlp/common/text.h"

namespace parser {

using namespace nlp;

namespace {

/// Parses heads; throws LineError unless they form a tree with one root.
std::vector<unsigned> heads_of(const conllu::Sentence& lines,
                               const std::vector<std::string>& texts) {
  std::vector<unsigned> heads;
  const std::size_t words = texts.size();
  std::size_t roots = 0;
  for (std::size_t i = 0; i < words; ++i) {
    const std::string& text = texts[i];
    const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
    if (!digits || text.size() > 9 || std::stoul(text) > words) {
      lines.refuse(i, "expected a word number from 0 to " + std::to_string(words) +
                          " in column 7, HEAD, found " + in_quotes(text));
    }
    heads.push_back(static_cast<unsigned>(std::stoul(text)));
    roots += heads.back() == 0;
    if (roots > 1) lines.refuse(i, "a second word with HEAD 0: expected one root");
  }
  for (std::size_t i = 0; i < words; ++i) {
    std::size_t steps = 0;
    for (std::size_t at = i + 1; at != 0 && steps <= words; ++steps) at = heads[at - 1];
    if (steps > words) lines.refuse(i, "the heads of this word run in a circle");
  }
  return heads;
}

}  // namespace

Sentence sentence_of(conllu::Sentence rows, Trees trees, const std::vector<std::string>& labels) {
  require_readable(rows.size(), rows.line_number(0), rows.file());
  Sentence sentence{{}, {}, {}, std::move(rows)};
  std::vector<std::string> heads;
  for (std::size_t i = 0; i < sentence.rows.size(); ++i) {
    std::vector<std::string> fields = sentence.rows.fields(i);
    sentence.rows.require_filled(i, fields, conllu::kUpos, "tag");
    sentence.words.push_back(std::move(fields[conllu::kForm]));
    sentence.tags.push_back(std::move(fields[conllu::kUpos]));
    if (trees == Trees::kIgnored) continue;
    sentence.rows.require_filled(i, fields, conllu::kDeprel, "label");
    const std::string& label = fields[conllu::kDeprel];
    if (!labels.empty() && std::find(labels.begin(), labels.end(), label) == labels.end())
      sentence.rows.refuse(i, "the model has no label " + in_quotes(label) + " (column 8, DEPREL)");
    heads.push_back(std::move(fields[conllu::kHead]));
    sentence.tree.labels.push_back(std::move(fields[conllu::kDeprel]));
  }
  if (trees == Trees::kRead) sentence.tree.heads = heads_of(sentence.rows, heads);
  return sentence;
}

Treebank parse_conllu(const std::vector<std::string>& lines, const TextSource& source, Trees trees,
                      const std::vector<std::string>& labels) {
  Treebank treebank;
  SampleReader reader(source, "sentence");
  for (const LineRange& block : blocks_of(lines)) {
    reader.read([&] {
      treebank.push_back(sentence_of(conllu::Sentence(lines, block, source.name()), trees, labels));
    });
  }
  if (treebank.empty() && trees == Trees::kRead)
    throw UserError(source.name() + " holds no sentence");
  return treebank;
}

Treebank read_conllu(const TextSource& source, Trees trees,
                     const std::vector<std::string>& labels) {
  return parse_conllu(read_lines(source), source, trees, labels);
}

Sentence untagged(conllu::Sentence rows) {
  Sentence sentence{rows.words(), {}, {}, std::move(rows)};
  sentence.tags.assign(sentence.words.size(), "_");
  return sentence;
}

void set_tags(Sentence& sentence, std::vector<std::string> tags) {
  for (std::size_t i = 0; i < tags.size(); ++i) sentence.rows.set(i, conllu::kUpos, tags[i]);
  sentence.tags = std::move(tags);
}

std::vector<std::string> lines_with(const Sentence& sentence, const Tree& tree) {
  conllu::Sentence lines = sentence.rows;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    lines.set(i, conllu::kHead, std::to_string(tree.heads[i]));
    lines.set(i, conllu::kDeprel, tree.labels[i]);
    if (tree.probabilities.empty()) continue;
    const std::string misc = lines.fields(i)[conllu::kMisc];
    lines.set(i, conllu::kMisc, conllu::with_probability(misc, tree.probabilities[i]));
  }
  return lines.lines();
}

std::size_t count_words(const Treebank& treebank) {
  std::size_t words = 0;
  for (const Sentence& sentence : treebank) words += sentence.size();
  return words;
}

}  // namespace parser
