#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "examples/nlp/common/label_scores.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/training.h"

namespace nlp {

/// With its members in the order in which they were added.
using Json = nlohmann::ordered_json;

/// The object in one line. Names of files and words may hold any bytes: what is no UTF-8 is
/// replaced.
std::string json_line(const Json& object);

/// Options by name, without hyphens: numbers, true or false, or texts.
Json json_of(const OptionValues& options);
/// The figures by name, of the model or of the baseline; null for what is no number.
Json json_of(const Figures& figures, double Figure::*score);
/// By label: precision, recall, f1, and what they are made of.
Json json_of(const LabelScores& labels);
/// The labels, and the counts by right label, then by predicted label.
Json confusion_json(const LabelScores& labels);

}  // namespace nlp
