#include "examples/nlp/common/about.h"

#include <cstdlib>
#include <ctime>

#include "dynet-like/base/version.h"
#include "examples/nlp/common/files.h"
#include "examples/nlp/common/json.h"
#include "examples/nlp/common/text.h"

namespace nlp {
namespace {

constexpr std::size_t kLastSecond = 253402300799;  // end of the year 9999

}  // namespace

std::string date_of_files() {
  std::time_t now = std::time(nullptr);
  const char* const fixed = std::getenv("SOURCE_DATE_EPOCH");
  if (fixed != nullptr && *fixed != '\0')
    now = static_cast<std::time_t>(parse_number(fixed, "SOURCE_DATE_EPOCH", kLastSecond));
  std::tm parts{};
  char text[64] = "";
  if (gmtime_r(&now, &parts) != nullptr)
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string about_text(const About& about, const RunOptions& run) {
  Json text = {
      {"program", about.program}, {"version", dynet::version()}, {"date", date_of_files()}};
  for (const auto& [what, path] : {std::pair{"train", &run.train},
                                   {"dev", &run.dev},
                                   {"test", &run.test},
                                   {"init", &run.init}}) {
    if (!path->empty()) text[what] = without_folders(*path);
  }
  if (!about.labels.empty()) text["labels"] = about.labels;
  text["settings"] = json_of(about.settings);
  text["weights"] = about.weights;
  text["epoch"] = about.epoch;
  for (const auto& [data, figures] : {std::pair{"dev", &about.dev}, {"test", &about.test}}) {
    if (!figures->empty()) text["scores"][data] = json_of(*figures, &Figure::model);
  }
  return text.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace nlp
