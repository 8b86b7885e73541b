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
  std::vector<std::string> labels;  ///< or tags; empty if the model has none
  OptionValues settings;
  std::size_t weights = 0;
  unsigned epoch = 0;  ///< the best one
  Figures dev, test;   ///< scores of that epoch; empty where there were no data
};

/// The time in UTC, "2026-11-22T20:15:00Z": that of SOURCE_DATE_EPOCH if the environment has it, so
/// that equal runs can make equal files. Throws UserError for one that is no number of seconds.
std::string date_of_files();

/// As JSON in several lines: with the names of the files of the run, without their folders, the
/// version of the library, and date_of_files().
std::string about_text(const About& about, const RunOptions& run);

}  // namespace nlp
