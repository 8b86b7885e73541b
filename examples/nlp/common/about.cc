#include "examples/nlp/common/about.h"

#include <cstdlib>
#include <ctime>

#include "dynet-like/base/version.h"
#include "examples/nlp/common/json.h"

namespace nlp {
namespace {

/// "2026-11-22T20:15:00Z"
std::string date() {
  std::time_t now = std::time(nullptr);
  if (const char* const fixed = std::getenv("SOURCE_DATE_EPOCH")) {
    char* end = nullptr;
    const long long seconds = std::strtoll(fixed, &end, 10);
    if (end != fixed && *end == '\0') now = static_cast<std::time_t>(seconds);
  }
  std::tm parts{};
  char text[64] = "";
  if (gmtime_r(&now, &parts) != nullptr)
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

std::string about_text(const About& about, const RunOptions& run) {
  Json text = {{"program", about.program}, {"version", dynet::version()}, {"date", date()}};
  text["train"] = run.train;
  if (!run.dev.empty()) text["dev"] = run.dev;
  if (!run.test.empty()) text["test"] = run.test;
  if (!run.init.empty()) text["init"] = run.init;
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
