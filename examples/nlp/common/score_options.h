#pragma once

#include <CLI/CLI.hpp>
#include <ostream>
#include <string>

#include "examples/nlp/common/json.h"
#include "examples/nlp/common/label_scores.h"
#include "examples/nlp/common/score.h"

namespace nlp {

/// Output options of `eval`.
struct ScoreOptions {
  bool per_label = false;
  bool confusion = false;
  bool json = false;

  /// Adds --json, which excludes the options in `excluded`.
  void add_json(CLI::App& app, const std::vector<std::string>& excluded = {});
  /// Adds --per-label and --confusion; `labels` names the labels: "tags".
  void add_labels(CLI::App& app, const std::string& labels);
};

/// Object printed by --json.
Json scores_json(const std::string& program, const std::string& data, const Counts& counts,
                 const Figures& figures);

/// Prints a report as chosen by the options: alone, with details, or as JSON.
template <class Report>
void print_scores(const Report& report, const std::string& program, const ScoreOptions& options,
                  std::ostream& out) {
  Json object;
  if (options.json) {
    object = scores_json(program, report.name, report.counts(), report.figures());
  } else {
    report.print(out);
  }
  if constexpr (requires { report.label_scores(); }) {
    if (options.per_label && options.json) object["labels"] = json_of(report.label_scores());
    if (options.per_label && !options.json) report.label_scores().print(out);
    if (options.confusion && options.json) object["confusion"] = confusion_json(report.confusion());
    if (options.confusion && !options.json) report.confusion().print_confusion(out);
  }
  if (options.json) out << json_line(object) << std::endl;
}

}  // namespace nlp
