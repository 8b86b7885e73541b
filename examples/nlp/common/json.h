#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "examples/nlp/common/label_scores.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/training.h"

namespace nlp {

/// JSON with members in insertion order.
using Json = nlohmann::ordered_json;

/// The object in one line. Invalid UTF-8, which names of files and words may contain, is replaced.
std::string json_line(const Json& object);

/// Options by name, without hyphens, as numbers, booleans or texts.
Json json_of(const OptionValues& options);
/// Figures by name, of the model or of the baseline; null for NaN.
Json json_of(const Figures& figures, double Figure::*score);
/// Precision, recall, f1 and their counts, by label.
Json json_of(const LabelScores& labels);
/// Labels, and the confusion matrix by correct label, then by predicted label.
Json confusion_json(const LabelScores& labels);

}  // namespace nlp
