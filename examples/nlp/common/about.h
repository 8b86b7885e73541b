#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "examples/nlp/common/score.h"
#include "examples/nlp/common/training.h"

namespace nlp {

/// Metadata of a model file, shown by `dynet-like inspect`.
struct About {
  std::string program;
  std::vector<std::string> labels;  ///< labels or tags; empty if the model has none
  OptionValues settings;
  std::size_t weights = 0;
  unsigned epoch = 0;  ///< best epoch
  Figures dev, test;   ///< scores of that epoch; empty without data
};

/// Current time in UTC, "2026-11-22T20:15:00Z", or that of SOURCE_DATE_EPOCH if it is set, for
/// reproducible files. Throws UserError if that is not a number of seconds.
std::string date_of_files();

/// Metadata as multi-line JSON, with the base names of the run's files, the version of the library,
/// and date_of_files().
std::string about_text(const About& about, const RunOptions& run);

}  // namespace nlp
