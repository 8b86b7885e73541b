#include "examples/nlp/annotate/rows.h"

#include <algorithm>
#include <array>
#include <utility>

#include "examples/nlp/annotate/pipeline.h"
#include "examples/nlp/common/text.h"

namespace annotate {

using namespace nlp;
using conllu::Column;

namespace {

/// True for a sentence that has forms and MISC alone.
bool is_bare(const conllu::Sentence& sentence) {
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    const std::vector<std::string> fields = sentence.fields(i);
    for (std::size_t column = conllu::kLemma; column < conllu::kMisc; ++column)
      if (fields[column] != "_") return false;
  }
  return true;
}

/// The id, or range of ids, `shift` words further on.
std::string shifted(const std::string& id, std::size_t shift) {
  const std::size_t at = id.find_first_of("-.");
  const auto moved = [&](const std::string& number) {
    return std::to_string(std::stoul(number) + shift);
  };
  if (at == std::string::npos) return moved(id);
  const std::string rest = id.substr(at + 1);
  return moved(id.substr(0, at)) + id[at] + (id[at] == '-' ? moved(rest) : rest);
}

/// The sentence with the tokens split that have words; the tokens are those of its paragraph.
conllu::Sentence split_sentence(const conllu::Sentence& sentence, const Tokens& tokens) {
  std::vector<std::vector<std::string>> words;  // of each word of the sentence
  const std::vector<conllu::Multiword> given = sentence.multiwords();
  auto multiword = given.begin();
  for (const Token& token : tokens) {
    if (multiword != given.end() && multiword->begin == words.size())
      words.resize((multiword++)->end);
    else
      words.push_back(token.words);
  }
  std::vector<std::string> lines;
  std::size_t word = 0, shift = 0;
  for (const std::string& line : sentence.lines()) {
    if (line[0] == '#') {
      lines.push_back(line);
      continue;
    }
    std::vector<std::string> fields = split_fields(line, '\t');
    const bool is_word = fields[conllu::kId].find_first_of("-.") == std::string::npos;
    fields[conllu::kId] = shifted(fields[conllu::kId], shift);
    if (!is_word || words[word++].empty()) {
      lines.push_back(join(fields, "\t"));
      continue;
    }
    const std::vector<std::string>& own = words[word - 1];
    const std::size_t first = word + shift;
    shift += own.size() - 1;
    fields[conllu::kId] = std::to_string(first) + "-" + std::to_string(word + shift);
    lines.push_back(join(fields, "\t"));
    for (std::size_t k = 0; k < own.size(); ++k)
      lines.push_back(std::to_string(first + k) + "\t" + own[k] + "\t_\t_\t_\t_\t_\t_\t_\t_");
  }
  return {lines, {0, lines.size()}, sentence.file(), sentence.line_number(0) - 1};
}

bool is_number(const std::string& text) {
  return text.size() < 10 && std::all_of(text.begin(), text.end(), nlp::is_digit);
}

/// The field as an object: "Number=Sing|Case=Nom"; parts without a value are true.
Json attributes(const std::string& field) {
  Json object = Json::object();
  for (const std::string& part : split_fields(field, '|')) {
    const std::size_t at = part.find('=');
    if (at == std::string::npos)
      object[part] = true;
    else
      object[part.substr(0, at)] = part.substr(at + 1);
  }
  return object;
}

}  // namespace

std::vector<conllu::Sentence> with_multiwords(Model& model,
                                              std::vector<conllu::Sentence> sentences) {
  if (model.description().segmenter.scripts.empty()) return sentences;
  std::vector<Paragraph> paragraphs;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    if (!is_bare(sentences[i])) continue;
    paragraphs.push_back(paragraphs_of({sentences[i]})[0]);
    places.push_back(i);
  }
  segment(model, paragraphs, Find::kWords);
  for (std::size_t i = 0; i < places.size(); ++i) {
    conllu::Sentence& sentence = sentences[places[i]];
    Tokens tokens;  // those of a sentence that was too long are in several
    for (const Tokens& some : paragraphs[i].sentences)
      tokens.insert(tokens.end(), some.begin(), some.end());
    sentence = split_sentence(sentence, tokens);
  }
  return sentences;
}

void fill(conllu::Sentence& sentence, const Annotation& found, const Fill& what) {
  const auto filled = [&](std::size_t word, Column column) {
    return !what.replace && sentence.fields(word)[column] != "_";
  };
  bool has_tree = !what.trees || found.heads.empty(), has_features = false;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    has_tree = has_tree || filled(i, conllu::kHead);
    has_features = has_features || filled(i, conllu::kFeats);
  }
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    for (std::size_t output = 0; what.columns && output < kOutputs; ++output)
      if (!filled(i, kColumns[output]) && !(output == kFeats && has_features))
        sentence.set(i, kColumns[output], found.columns[output][i]);
    if (has_tree) continue;
    sentence.set(i, conllu::kHead, std::to_string(found.heads[i]));
    sentence.set(i, conllu::kDeprel, found.labels[i]);
  }
}

Json json_of(const conllu::Sentence& sentence) {
  Json comments = Json::array(), words = Json::array(), multiwords = Json::array();
  for (const std::string& line : sentence.lines())
    if (line[0] == '#') comments.push_back(line);
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    const std::vector<std::string> fields = sentence.fields(i);
    Json& word = words.emplace_back(Json{{"id", i + 1}, {"form", fields[conllu::kForm]}});
    static constexpr std::array kNames = {"lemma", "upos",   "xpos", "feats",
                                          "head",  "deprel", "deps", "misc"};
    for (std::size_t k = 0; k < kNames.size(); ++k) {
      const std::size_t column = conllu::kLemma + k;
      const std::string& field = fields[column];
      if (field == "_" && column != conllu::kLemma) continue;
      if (column == conllu::kFeats || column == conllu::kMisc)
        word[kNames[k]] = attributes(field);
      else if (column == conllu::kHead && is_number(field))
        word[kNames[k]] = std::stoul(field);
      else
        word[kNames[k]] = field;
    }
  }
  for (const conllu::Multiword& token : sentence.multiwords()) {
    Json& object = multiwords.emplace_back(
        Json{{"first", token.begin + 1}, {"last", token.end}, {"form", token.form}});
    if (token.misc != "_") object["misc"] = attributes(token.misc);
  }
  return {{"comments", comments}, {"words", words}, {"multiword", multiwords}};
}

}  // namespace annotate
