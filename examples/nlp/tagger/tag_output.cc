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

bool are_universal(const std::vector<std::string>& tags) {
  constexpr std::array kUniversal = {"ADJ",   "ADP",   "ADV", "AUX",  "CCONJ", "DET",
                                     "INTJ",  "NOUN",  "NUM", "PART", "PRON",  "PROPN",
                                     "PUNCT", "SCONJ", "SYM", "VERB", "X"};
  return std::all_of(tags.begin(), tags.end(), [&](const std::string& tag) {
    return std::find(kUniversal.begin(), kUniversal.end(), tag) != kUniversal.end();
  });
}

/// Default CoNLL-U column of tags.
conllu::Column usual_column(const Description& description) {
  if (description.data.format == Format::kConllu && !description.data.column.empty())
    return conllu::column_of(description.data.column);
  return are_universal(description.tags) ? conllu::kUpos : conllu::kXpos;
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

std::vector<std::string> output_lines(const Tagged& sentence, const Formats& formats) {
  switch (formats.output) {
    case OutputFormat::kText:
      return {restore(sentence.words, sentence.tags)};
    case OutputFormat::kPipe:
      return {pipe_line(sentence)};
    case OutputFormat::kColumns:
      return columns(sentence);
    case OutputFormat::kConllu:
      return conllu_lines(sentence, formats.column);
    case OutputFormat::kJson:
      return {json_line(json_of(sentence, formats.restores))};
  }
  return {};
}

Formats formats_of(const Description& description, const std::string& input,
                   const std::string& output, const std::string& column, bool probabilities) {
  Formats formats;
  formats.restores = description.kind == TagKind::kMarks;
  formats.probabilities = probabilities;
  formats.output = formats.restores ? OutputFormat::kText : OutputFormat::kPipe;
  if (!output.empty()) formats.output = value_of(kOutputFormats, output, "format");
  if (formats.restores && formats.output == OutputFormat::kConllu)
    throw UserError("--format conllu is for sentences, and the model restores text");
  if (!formats.restores && formats.output == OutputFormat::kText)
    throw UserError("--format text is for models that restore text, which this one does not");
  if (!input.empty())
    formats.input = value_of(kInputFormats, input, "input format");
  else if (formats.output == OutputFormat::kConllu)
    formats.input = InputFormat::kConllu;
  if (formats.restores && formats.input != InputFormat::kWords)
    throw UserError("the model restores text: its input is lines, --input-format words");
  formats.column = column.empty() ? usual_column(description) : conllu::column_of(column);
  if (probabilities && !holds_probabilities(formats.output))
    throw UserError(std::string("--format ") + name_of(kOutputFormats, formats.output) +
                    " has no place for --probabilities: columns, conllu and json have");
  return formats;
}

std::vector<std::string> words_of(const InputSentence& given, const Formats& formats) {
  return formats.restores ? annotate(given.text).words : given.rows.words();
}

}  // namespace tagger
