#include "examples/nlp/annotate/rest.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "dynet-like/base/version.h"
#include "examples/nlp/annotate/text.h"
#include "examples/nlp/common/json.h"
#include "examples/nlp/common/text.h"

namespace annotate {

using namespace nlp;

namespace {

const char* const kConlluType = "application/conllu";

/// Text in the normal form NFC of Unicode. Throws HttpError 415 if it is not UTF-8.
std::string normalized(const std::string& text) {
  utf8proc_uint8_t* found = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &found,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> memory(found, std::free);
  if (size == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
  if (size < 0) throw HttpError(415, "The argument 'data' is not valid UTF-8.");
  return {reinterpret_cast<const char*>(memory.get()), static_cast<std::size_t>(size)};
}

/// Last value of a parameter.
std::optional<std::string> value_in(const Parameters& parameters, const std::string& name) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) return std::nullopt;
  return found->second.back();
}

/// Options of all values of a parameter, each a list with `;` between them.
std::set<std::string> option_list(const std::vector<std::string>& values,
                                  const std::vector<std::string>& known, const std::string& of) {
  std::set<std::string> options;
  for (const std::string& value : values)
    for (const std::string& option : split_fields(value, ';'))
      if (!option.empty()) options.insert(option);
  for (const std::string& option : options)
    if (std::find(known.begin(), known.end(), option) == known.end())
      throw HttpError(400, "Unknown option " + in_quotes(option) + " of the " + of +
                               ", which has " + (known.empty() ? "none" : join(known, ", ")) + ".");
  return options;
}

/// A format `name=options` as its parts.
struct NamedOptions {
  explicit NamedOptions(const std::string& value)
      : name(value.substr(0, value.find('='))),
        options({value.substr(std::min(name.size() + 1, value.size()))}) {}
  std::string name;
  std::vector<std::string> options;
};

void require_model(const Parameters& parameters, const ServedModel& model) {
  const std::string wanted = value_in(parameters, "model").value_or("");
  if (wanted.empty() || wanted == model.id || model.id.starts_with(wanted + "-")) return;
  throw HttpError(400, "Requested model " + in_quotes(wanted, 200) + " does not exist.");
}

/// How text is cut.
void set_tokenizer(const std::vector<std::string>& values, AnnotationRequest& request, Task& task) {
  const std::set<std::string> options = option_list(
      values, {"normalized_spaces", "presegmented", "ranges", "joint_with_parsing"}, "tokenizer");
  task.format = options.contains("presegmented") ? Format::kLines : Format::kText;
  task.ranges = options.contains("ranges");
  request.normalized_spaces = options.contains("normalized_spaces");
}

void set_input(const NamedOptions& input, AnnotationRequest& request, Task& task) {
  const std::string& name = input.name;
  if (name == "generic_tokenizer") return set_tokenizer(input.options, request, task);
  const bool is_conllu = name == "conllu" || name.empty();
  if (!is_conllu && name != "horizontal" && name != "vertical")
    throw HttpError(400, "Unknown input format " + in_quotes(name) + ".");
  const auto versions =
      is_conllu ? std::vector<std::string>{"v1", "v2"} : std::vector<std::string>{};
  option_list(input.options, versions, "input format " + name);
  task.format = is_conllu              ? Format::kConllu
                : name == "horizontal" ? Format::kWords
                                       : Format::kWordLines;
}

void set_output(const NamedOptions& output, AnnotationRequest& request) {
  const std::string name = output.name.empty() ? "conllu" : output.name;
  static const std::map<std::string, std::vector<std::string>> kKnown = {
      {"conllu", {"v1", "v2"}},
      {"horizontal", {"paragraphs"}},
      {"vertical", {"paragraphs"}},
      {"plaintext", {"normalized_spaces"}}};
  const auto known = kKnown.find(name);
  if (name == "matxin" || name == "epe")
    throw HttpError(400, "The output format " + name +
                             " is not provided, only conllu, horizontal, vertical and plaintext "
                             "are.");
  if (known == kKnown.end()) throw HttpError(400, "Unknown output format " + in_quotes(name) + ".");
  const std::set<std::string> found =
      option_list(output.options, known->second, "output format " + name);
  request.output = value_of(kOutputFormats, name, "output format");
  request.paragraphs = found.contains("paragraphs");
  request.normalized_output = found.contains("normalized_spaces");
}

void set_stages(bool tagger, bool parser, const ServedModel& model, Task& task) {
  task.columns = tagger;
  task.trees = parser;
  task.replace = true;
  task.multiwords = task.is_text();
  for (const auto& [wanted, is_there, name] :
       {std::tuple(tagger, model.tagger, "tagger"), {parser, model.parser, "parser"}})
    if (wanted && !is_there)
      throw HttpError(400, "The required model does not contain a " + std::string(name) + "!");
}

void read_documents(const std::string& data, const Task& task, std::size_t most,
                    AnnotationRequest& request) {
  try {
    for_documents(TextSource::in_memory(normalized(data), "data"), task, most,
                  [&](Document document) { request.pieces.push_back(std::move(document)); });
  } catch (const UserError& error) {
    throw HttpError(400, "Cannot read input data: " + std::string(error.what()));
  }
}

AnnotationRequest process_request(const HttpRequest& http, const ServedModel& model,
                                  std::size_t most) {
  const Parameters parameters = parameters_of(http);
  const auto wants = [&](const std::string& name) {
    const std::optional<std::string> value = value_in(parameters, name);
    return value && *value != "none";
  };
  require_model(parameters, model);
  const std::optional<std::string> data = value_in(parameters, "data");
  if (!data) throw HttpError(400, "Required argument 'data' is missing.");
  AnnotationRequest request;
  Task task;
  if (const auto tokenizer = parameters.find("tokenizer"); tokenizer != parameters.end())
    set_tokenizer(tokenizer->second, request, task);
  else
    set_input(NamedOptions(value_in(parameters, "input").value_or("")), request, task);
  set_output(NamedOptions(value_in(parameters, "output").value_or("")), request);
  set_stages(wants("tagger"), wants("parser"), model, task);
  read_documents(*data, task, most, request);
  return request;
}

AnnotationRequest weblicht_request(const HttpRequest& http, const ServedModel& model,
                                   const std::string& stage, std::size_t most) {
  require_model(query_parameters(http.query), model);
  if (http.body.empty()) throw HttpError(400, "The body of the request has no data.");
  AnnotationRequest request;
  request.bare = true;
  Task task;
  task.format = stage == "tokenize" ? Format::kText : Format::kConllu;
  set_stages(stage == "tag", stage == "parse", model, task);
  read_documents(http.body, task, most, request);
  return request;
}

Json models_json(const ServedModel& model) {
  std::vector<std::string> stages = {"tokenizer"};
  if (model.tagger) stages.push_back("tagger");
  if (model.parser) stages.push_back("parser");
  Json models = Json::object();
  models[model.id] = stages;
  return {{"models", models}, {"default_model", model.id}};
}

std::variant<AnnotationRequest, HttpAnswer> route(const HttpRequest& http, const ServedModel& model,
                                                  std::size_t most) {
  static const std::set<std::string> kMethods = {"HEAD", "GET", "POST", "PUT", "DELETE"};
  if (!kMethods.contains(http.method)) {
    return method_answer("HEAD, GET, POST, PUT, DELETE");
  }
  if (http.path == "/process") return process_request(http, model, most);
  if (http.path == "/models") return json_answer(models_json(model));
  for (const std::string stage : {"tokenize", "tag", "parse"})
    if (http.path == "/weblicht/" + stage) return weblicht_request(http, model, stage, most);
  return text_answer(404, "Requested URL was not found.");
}

/// MISC without any white space but `SpaceAfter=No`.
std::string without_spaces(const std::string& misc) {
  std::vector<std::string> kept;
  for (const std::string& item : split_fields(misc, '|'))
    if (!item.starts_with("SpacesAfter=") && !item.starts_with("SpacesBefore=") &&
        !item.starts_with("SpacesInToken="))
      kept.push_back(item);
  return kept.empty() ? "_" : join(kept, "|");
}

AnnotatedSentence with_normalized_spaces(AnnotatedSentence sentence) {
  for (std::string& line : sentence.lines) {
    const std::size_t misc = line.rfind('\t') + 1;
    if (!line.starts_with('#')) line.replace(misc, line.npos, without_spaces(line.substr(misc)));
  }
  return sentence;
}

/// Forms of the words of a sentence, with no-break spaces.
std::vector<std::string> forms_of(const AnnotatedSentence& sentence) {
  std::vector<std::string> forms;
  for (const std::string& line : sentence.lines) {
    const std::size_t id = line.find('\t');
    if (line.starts_with('#') || line.find_first_of(".-") < id) continue;
    forms.emplace_back();
    for (const char c : line.substr(id + 1, line.find('\t', id + 1) - id - 1))
      forms.back() += c == ' ' ? "\u00a0" : std::string(1, c);
  }
  return forms;
}

bool begins_paragraph(const AnnotatedSentence& sentence) {
  return sentence.begins_paragraph ||
         std::any_of(sentence.lines.begin(), sentence.lines.end(), [](const std::string& line) {
           return line.starts_with("# newpar") || line.starts_with("# newdoc");
         });
}

template <class Use>
void for_sentences(const AnnotationRequest& request, Use use) {
  for (const Document& document : request.pieces)
    for (const AnnotatedSentence& sentence : document.sentences) use(sentence);
}

std::string conllu_result(const AnnotationRequest& request, const ServedModel& model) {
  std::string result;
  SentenceWriter writer([&](const std::string& line) { result += line + "\n"; }, model.treebank);
  writer.add_comment("# udpipe_model = " + model.id);
  if (!request.pieces.empty() && request.pieces[0].task.is_text()) writer.add_comment("# newdoc");
  for_sentences(request, [&](const AnnotatedSentence& sentence) {
    writer.write(request.normalized_spaces ? with_normalized_spaces(sentence) : sentence);
  });
  return result;
}

/// One word or one sentence a line.
std::string lines_result(const AnnotationRequest& request) {
  const bool is_vertical = request.output == OutputFormat::kVertical;
  std::string result;
  for_sentences(request, [&](const AnnotatedSentence& sentence) {
    if (request.paragraphs && begins_paragraph(sentence) && !result.empty()) result += '\n';
    result += join(forms_of(sentence), is_vertical ? "\n" : " ") + (is_vertical ? "\n\n" : "\n");
  });
  return result;
}

std::string text_result(const AnnotationRequest& request) {
  std::string result;
  if (request.normalized_output) {
    for_sentences(request, [&](const AnnotatedSentence& sentence) {
      if (begins_paragraph(sentence) && !result.empty()) result += '\n';
      result += sentence.text + "\n";
    });
    return result;
  }
  for (const Document& document : request.pieces) {
    for (const Paragraph& paragraph :
         document.task.is_text() ? document.paragraphs : paragraphs_of(document.rows, false))
      result += utf8(paragraph.letters);
  }
  return result;
}

std::string result_of(const AnnotationRequest& request, const ServedModel& model) {
  switch (request.output) {
    case OutputFormat::kConllu:
      return conllu_result(request, model);
    case OutputFormat::kHorizontal:
    case OutputFormat::kVertical:
      return lines_result(request);
    case OutputFormat::kPlainText:
      return text_result(request);
  }
  return "";
}

}  // namespace

ServedModel served_model(const Model& model, const std::string& file) {
  const Description& description = model.description();
  return {std::filesystem::path(file).stem().string(), description.treebank,
          std::any_of(description.classes.begin(), description.classes.end(),
                      [](const auto& classes) { return classes.size() > 1; }),
          !description.labels.empty()};
}

std::variant<AnnotationRequest, HttpAnswer> read_request(const HttpRequest& request,
                                                         const ServedModel& model,
                                                         std::size_t most) {
  try {
    return route(request, model, most);
  } catch (const HttpError& error) {
    return text_answer(error.status(), error.what());
  }
}

HttpAnswer answer_of(const AnnotationRequest& request, const ServedModel& model) {
  const std::string result = result_of(request, model);
  if (request.bare) return {200, kConlluType, result};
  std::size_t letters = 0;
  for_sentences(request, [&](const AnnotatedSentence& sentence) {
    for (const std::string& form : forms_of(sentence)) letters += code_points(form).size();
  });
  HttpAnswer answer =
      json_answer({{"model", model.id},
                   {"acknowledgements",
                    Json::array({"Annotated by dynet-like " + std::string(dynet::version()) +
                                 " with a model of " + model.treebank + "."})},
                   {"result", result}});
  answer.headers = {{"X-Billing-Input-NFC-Len", std::to_string(letters)}};
  return answer;
}

}  // namespace annotate
