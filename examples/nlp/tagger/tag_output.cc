#include "tag_output.h"

#include "examples/nlp/common/json.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/text.h"
#include "kingjames.h"
#include "pipe.h"

namespace tagger {

using namespace nlp;

namespace {

std::string pipe_line(const Tagged& sentence) {
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < sentence.words.size(); ++i)
    tokens.push_back(to_pipe({sentence.words[i], sentence.tags[i]}));
  return join(tokens, " ");
}

std::vector<std::string> columns(const Tagged& sentence) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < sentence.words.size(); ++i)
    lines.push_back(sentence.words[i] + "\t" + sentence.tags[i] +
                    (sentence.probabilities.empty()
                         ? ""
                         : "\t" + fixed(static_cast<double>(sentence.probabilities[i]), 4)));
  if (!lines.empty()) lines.emplace_back();
  return lines;
}

std::vector<std::string> conllu_lines(const Tagged& sentence, conllu::Column column) {
  conllu::Sentence rows = sentence.rows;
  for (std::size_t i = 0; i < sentence.tags.size(); ++i) rows.set(i, column, sentence.tags[i]);
  for (std::size_t i = 0; i < sentence.probabilities.size(); ++i) {
    const std::string misc = rows.fields(i)[conllu::kMisc];
    rows.set(i, conllu::kMisc, conllu::with_probability(misc, sentence.probabilities[i]));
  }
  std::vector<std::string> lines = rows.lines();
  if (!lines.empty()) lines.emplace_back();
  return lines;
}

Json json_of(const Tagged& sentence, bool restores) {
  Json object = {{"words", sentence.words}, {"tags", sentence.tags}};
  if (restores) object["text"] = restore(sentence.words, sentence.tags);
  if (!sentence.probabilities.empty()) object["probabilities"] = sentence.probabilities;
  return object;
}

}  // namespace

std::vector<std::string> best_lines(const std::vector<std::string>& words,
                                    const std::vector<Candidate>& best, OutputFormat format) {
  if (format == OutputFormat::kJson) {
    Json object = {{"words", words}, {"best", Json::array()}};
    for (const Candidate& candidate : best)
      object["best"].push_back({{"probability", candidate.probability}, {"tags", candidate.tags}});
    return {json_line(object)};
  }
  if (format != OutputFormat::kPipe)
    throw UserError(std::string("--format ") + name_of(kOutputFormats, format) +
                    " has no place for --nbest: pipe and json have");
  std::vector<std::string> lines;
  for (const Candidate& candidate : best)
    lines.push_back(fixed(candidate.probability, 4) + "\t" +
                    pipe_line({words, candidate.tags, {}}));
  lines.emplace_back();
  return lines;
}

bool holds_probabilities(OutputFormat format) {
  return format == OutputFormat::kColumns || format == OutputFormat::kConllu ||
         format == OutputFormat::kJson;
}

std::vector<std::string> output_lines(const Tagged& sentence, OutputFormat format,
                                      conllu::Column column, bool restores) {
  switch (format) {
    case OutputFormat::kText:
      return {restore(sentence.words, sentence.tags)};
    case OutputFormat::kPipe:
      return {pipe_line(sentence)};
    case OutputFormat::kColumns:
      return columns(sentence);
    case OutputFormat::kConllu:
      return conllu_lines(sentence, column);
    case OutputFormat::kJson:
      return {json_line(json_of(sentence, restores))};
  }
  return {};
}

}  // namespace tagger
