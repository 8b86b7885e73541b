#include "examples/nlp/common/score_options.h"

#include "examples/nlp/common/files.h"

namespace nlp {

void ScoreOptions::add_json(CLI::App& app, const std::vector<std::string>& excluded) {
  CLI::Option* const option = app.add_flag("--json", json, "Print one JSON object");
  for (const std::string& other : excluded) option->excludes(app.get_option(other));
}

void ScoreOptions::add_labels(CLI::App& app, const std::string& labels) {
  app.add_flag("--per-label", per_label, "Show precision, recall and F1 of each of the " + labels);
  app.add_flag("--confusion", confusion, "Show which " + labels + " it takes for which");
}

Json scores_json(const std::string& program, const std::string& data, const Counts& counts,
                 const Figures& figures) {
  Json object = {{"program", program}, {"data", without_folders(data)}};
  for (const auto& [what, count] : counts) object[what] = count;
  object["model"] = json_of(figures, &Figure::model);
  object["baseline"] = json_of(figures, &Figure::baseline);
  return object;
}

}  // namespace nlp
