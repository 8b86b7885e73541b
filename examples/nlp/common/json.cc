#include "examples/nlp/common/json.h"

namespace nlp {

std::string json_line(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json json_of(const OptionValues& options) {
  Json object = Json::object();
  for (const auto& [option, text] : options) {
    Json& value = object[option.substr(option.find_first_not_of('-'))];
    if (text == "on" || text == "off") {
      value = text == "on";
    } else if (const Json number = Json::parse(text, nullptr, false); number.is_number()) {
      value = number;
    } else {
      value = text;
    }
  }
  return object;
}

Json json_of(const Figures& figures, double Figure::*score) {
  Json object = Json::object();
  for (const Figure& figure : figures) object[figure.name] = figure.*score;
  return object;
}

Json json_of(const LabelScores& labels) {
  Json object = Json::object();
  for (const LabelScores::Known& known : labels.labels()) {
    const FoundScore& score = labels.found().at(known.label);
    object[known.label] = {
        {"precision", score.precision()}, {"recall", score.recall()}, {"f1", score.f1()},
        {"wanted", score.wanted},         {"found", score.found},     {"correct", score.correct}};
  }
  return object;
}

Json confusion_json(const LabelScores& labels) {
  Json names = Json::array(), counts = Json::array();
  const std::vector<LabelScores::Known> all = labels.labels();
  for (const LabelScores::Known& row : all) {
    names.push_back(row.label);
    Json& line = counts.emplace_back(Json::array());
    for (const LabelScores::Known& column : all) {
      line.push_back(labels.taken(row.label, column.label));
    }
  }
  return {{"labels", names}, {"counts", counts}};
}

}  // namespace nlp
