#include "examples/nlp/parser/output.h"

#include "examples/nlp/common/json.h"

namespace parser {

using namespace nlp;

namespace {

/// JSON line with the comments, and the words with their arcs, without other columns.
Json json_of(const Sentence& sentence, const Tree& tree) {
  Json comments = Json::array(), words = Json::array();
  for (const std::string& line : sentence.rows.lines()) {
    if (line[0] == '#') comments.push_back(line);
  }
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    words.push_back({{"id", i + 1},
                     {"form", sentence.words[i]},
                     {"upos", sentence.tags[i]},
                     {"head", tree.heads[i]},
                     {"deprel", tree.labels[i]}});
    if (!tree.probabilities.empty())
      words.back()["probability"] = static_cast<double>(tree.probabilities[i]);
  }
  return {{"comments", comments}, {"words", words}};
}

}  // namespace

std::vector<std::string> output_lines(const Sentence& sentence, const Tree& tree, bool json) {
  if (json) return {json_line(json_of(sentence, tree))};
  std::vector<std::string> lines = lines_with(sentence, tree);
  lines.emplace_back();
  return lines;
}

}  // namespace parser
